//! What decides whether two startups may share a listing (C5).

use mcp_catalog::{DiscoveryClient, DiscoveryHandshake, DiscoveryScope, DiscoveryScopeBuilder};
use serde_json::value::RawValue;

use super::route::{Route, Way};
use crate::connection::{Connection, Connector};
use crate::executor::Executor;
use crate::slot::Slot;

/// Everything that could make a server list something else.
pub(super) fn of(
    slot: &Slot,
    route: &Route<'_>,
    connection: &Connection,
    connector: &Connector,
) -> DiscoveryScope {
    let raw = |value: &Option<Box<RawValue>>| {
        value
            .as_deref()
            .map(RawValue::get)
            .unwrap_or_default()
            .to_owned()
    };
    let executor = match route.way {
        Way::Stdio(_) => slot.placement.executor.identity(),
        // Reached from here, wherever its environment is.
        Way::Http(_) => Executor::Local.identity(),
    };
    let facts = connection.facts();
    let handshake = DiscoveryHandshake::new(
        facts.era.as_str(),
        &facts.protocol_version,
        raw(&facts.server_info),
        raw(&facts.capabilities),
    );
    // What cannot be written is not sent either.
    let capabilities = connector.introduction().capabilities;
    let capabilities = serde_json::to_vec(&capabilities).unwrap_or_default();
    let client = DiscoveryClient::new(
        &connector.client.name,
        &connector.client.version,
        capabilities,
    );
    DiscoveryScopeBuilder::new(
        connection.key(),
        &executor,
        &route.transport,
        route.credential,
        &client,
        &handshake,
    )
    .build()
}
