//! What decides whether two startups may share a listing (C5).

use mcp_catalog::{
    CredentialIdentity, DiscoveryClient, DiscoveryHandshake, DiscoveryScope, DiscoveryScopeBuilder,
    DiscoveryTransport,
};
use serde_json::value::RawValue;

use crate::config::Transport;
use crate::connection::{Connection, Connector, Launch};
use crate::slot::Slot;

/// The executor of servers on this machine.
const LOCAL: &str = "local";

/// Everything that could make a server list something else.
pub(super) fn of(slot: &Slot, connection: &Connection, connector: &Connector) -> DiscoveryScope {
    let raw = |value: &Option<Box<RawValue>>| {
        value
            .as_deref()
            .map(RawValue::get)
            .unwrap_or_default()
            .to_owned()
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
    let (transport, credential) = match slot.config.transport() {
        Transport::Stdio(stdio) => {
            let launch = Launch::new(stdio, slot.cwd.as_deref());
            // What reaches the child is part of the transport, so whatever account it holds is told apart by that.
            let cwd = launch.cwd.as_deref();
            let transport =
                DiscoveryTransport::stdio(&launch.program, &launch.args, cwd, launch.environment());
            (transport, CredentialIdentity::None)
        }
        Transport::Http(http) => {
            let headers = http
                .headers
                .iter()
                .map(|(name, value)| (name.as_str(), value.as_bytes()));
            // A token from the environment is read again at each startup: whose it is cannot be told.
            let credential = match http.bearer_token_env_var {
                Some(_) => CredentialIdentity::Unknown,
                None => CredentialIdentity::None,
            };
            (
                DiscoveryTransport::http(http.url.as_str(), headers),
                credential,
            )
        }
    };
    DiscoveryScopeBuilder::new(
        &slot.key, LOCAL, &transport, credential, &client, &handshake,
    )
    .build()
}
