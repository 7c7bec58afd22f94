//! What a step may call, captured once and unchanged from then on (B1).

use std::sync::Arc;

use mcp_catalog::CatalogSnapshot;
use mcp_keys::{
    EnvironmentId, McpServerKey, ModelName, NameCollision, NameProfile, ServerName, ServerScope,
    ToolKey, ToolName, ToolNameIndex,
};

use crate::authority::{Authorities, CapturedAuthorities};
use crate::call::{Gates, PrepareError, PrepareErrorKind, PreparedCall, Target};
use crate::connection::Connection;
use crate::outage::Outage;
use crate::scope::Scope;
use crate::slot::{Slot, SlotState};
use crate::tool::Tool;

/// An immutable view of every tool that was there when it was captured.
///
/// Cloning and capturing copy no tool. A server that changes its tools later changes nothing here: a call of a tool
/// that is no longer offered as it was is refused instead (B2).
#[derive(Debug, Clone)]
pub struct Binding {
    captured: Arc<Captured>,
}

#[derive(Debug)]
struct Captured {
    index: ToolNameIndex,
    /// Where each tool of the index is, in its order.
    places: Vec<(ToolKey, Place)>,
    servers: Vec<BoundServer>,
    lost: Vec<LostServer>,
    /// Those that have not been connected.
    absent: Vec<Arc<Slot>>,
    scope: Scope,
    authorities: CapturedAuthorities,
    gates: Arc<Gates>,
}

#[derive(Debug)]
struct BoundServer {
    slot: Arc<Slot>,
    connection: Arc<Connection>,
    snapshot: Arc<CatalogSnapshot<Tool>>,
}

/// A server that was connected once and was not when the binding was captured.
#[derive(Debug)]
struct LostServer {
    slot: Arc<Slot>,
    /// What the names of its tools begin with, and no other server's (K4).
    prefix: String,
    outage: Outage,
}

/// Where a tool is: which server of the binding, which item of its snapshot.
#[derive(Debug, Clone, Copy)]
struct Place {
    server: usize,
    item: usize,
}

/// One tool of a binding.
#[derive(Debug, Clone, Copy)]
pub struct BoundTool<'a> {
    key: &'a ToolKey,
    name: &'a ModelName,
    tool: &'a Tool,
}

impl<'a> BoundTool<'a> {
    /// Its exact identity.
    #[must_use]
    pub fn key(&self) -> &'a ToolKey {
        self.key
    }

    /// The name the model sees (K4).
    #[must_use]
    pub fn name(&self) -> &'a ModelName {
        self.name
    }

    /// Its definition.
    #[must_use]
    pub fn tool(&self) -> &'a Tool {
        self.tool
    }
}

impl Binding {
    pub(crate) fn capture(
        slots: &[Arc<Slot>],
        profile: &NameProfile,
        scope: &Scope,
        authorities: CapturedAuthorities,
        gates: &Arc<Gates>,
    ) -> Self {
        let mut servers = Vec::new();
        let (mut lost, mut absent) = (Vec::new(), Vec::new());
        let mut located = Vec::new();
        for slot in slots {
            let connection = match slot.state() {
                SlotState::Ready { connection, .. } => connection,
                SlotState::Disconnected(outage) => {
                    lost.push(LostServer::new(slot, profile, outage));
                    continue;
                }
                _ => {
                    absent.push(slot.clone());
                    continue;
                }
            };
            let snapshot = connection.catalog().snapshot();
            let server = servers.len();
            for (item, tool) in snapshot.items().iter().enumerate() {
                if slot.config.filter().admits(tool.name().as_str()) {
                    located.push((
                        ToolKey::new(slot.key.clone(), tool.name().clone()),
                        Place { server, item },
                    ));
                }
            }
            servers.push(BoundServer {
                slot: slot.clone(),
                connection,
                snapshot,
            });
        }
        located.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        let index = ToolNameIndex::build(profile, located.iter().map(|(key, _)| key.clone()));
        located.retain(|(key, _)| index.name_of(key).is_some());
        Self {
            captured: Arc::new(Captured {
                index,
                places: located,
                servers,
                lost,
                absent,
                scope: scope.clone(),
                authorities,
                gates: gates.clone(),
            }),
        }
    }

    /// The tools left out because their names collide, a group at a time (K6).
    pub(crate) fn collisions(&self) -> impl Iterator<Item = &[ToolKey]> {
        self.captured
            .index
            .collisions()
            .iter()
            .map(NameCollision::keys)
    }

    /// Whether a capture made now would be the same.
    pub(crate) fn is_current(&self, slots: &[Arc<Slot>], authorities: &Authorities) -> bool {
        let mut servers = self.captured.servers.iter();
        let mut lost = self.captured.lost.iter();
        let mut is_same = |state: &SlotState| match state {
            SlotState::Ready { connection, .. } => servers
                .next()
                .is_some_and(|server| server.is_current(connection)),
            SlotState::Disconnected(outage) => lost
                .next()
                .is_some_and(|server| server.outage.is_same(outage)),
            _ => true,
        };
        authorities.is_current(&self.captured.authorities)
            && slots.iter().all(|slot| slot.look(&mut is_same))
            && servers.next().is_none()
            && lost.next().is_none()
    }

    /// All tools, sorted by key.
    #[must_use]
    pub fn tools(&self) -> impl ExactSizeIterator<Item = BoundTool<'_>> {
        let Captured {
            index,
            places,
            servers,
            ..
        } = &*self.captured;
        index
            .iter()
            .zip(places)
            .map(|((key, name), (_, place))| BoundTool {
                key,
                name,
                tool: &servers[place.server].snapshot.items()[place.item],
            })
    }

    /// Prepares a call of a tool by the name the model sees.
    ///
    /// # Errors
    ///
    /// When no tool of this binding has that name, or its server has lost its connection.
    pub fn prepare(&self, name: &str) -> Result<PreparedCall, PrepareError> {
        let Captured { index, lost, .. } = &*self.captured;
        let prepared = index.by_flat(name).and_then(|key| self.prepared(key));
        prepared.ok_or_else(|| {
            let server = lost.iter().find(|server| name.starts_with(&server.prefix));
            let kind = server.map_or(PrepareErrorKind::UnknownName, LostServer::error);
            self.refused(
                server.map(|lost| &*lost.slot),
                PrepareError::new(name, kind),
            )
        })
    }

    /// Prepares a call of a server's tool. Which server is meant follows K7.
    ///
    /// # Errors
    ///
    /// When the names mean no tool of this binding; the error says what to write instead.
    pub fn prepare_tool(
        &self,
        server: &str,
        environment_id: Option<&str>,
        tool: &str,
    ) -> Result<PreparedCall, PrepareError> {
        let fail = |kind: PrepareErrorKind| self.refused(None, PrepareError::new(tool, kind));
        let server: ServerName = server
            .parse()
            .map_err(|error| fail(PrepareErrorKind::Name(error)))?;
        let environment = environment_id.map(str::parse::<EnvironmentId>).transpose();
        let environment = environment.map_err(|error| fail(PrepareErrorKind::Name(error)))?;
        let name: ToolName = tool
            .parse()
            .map_err(|error| fail(PrepareErrorKind::Name(error)))?;
        let Captured {
            scope,
            servers,
            lost,
            absent,
            ..
        } = &*self.captured;
        let server = scope
            .resolve(&server, environment.as_ref())
            .map_err(|error| fail(PrepareErrorKind::Server(error)))?;
        let key = ToolKey::new(server.clone(), name);
        self.prepared(&key).ok_or_else(|| {
            let lost = lost.iter().find(|lost| lost.slot.key == server);
            let connected = servers.iter().map(|bound| &bound.slot);
            let connected = connected.chain(lost.map(|lost| &lost.slot));
            let mut known = connected.chain(absent);
            let slot = known.find(|slot| slot.key == server);
            let kind = match (lost, servers.iter().any(|bound| bound.slot.key == server)) {
                (Some(lost), _) => lost.error(),
                (None, true) => PrepareErrorKind::UnknownTool { server },
                (None, false) => PrepareErrorKind::NotConnected { server },
            };
            self.refused(slot.map(|slot| &**slot), PrepareError::new(tool, kind))
        })
    }

    /// Records a call that was not even prepared. What was to be called is the caller's word, and stays with the caller (T6).
    fn refused(&self, server: Option<&Slot>, error: PrepareError) -> PrepareError {
        let recording = match server {
            Some(slot) => slot.recorder.call_of_unknown_tool(),
            None => self.captured.gates.telemetry.call_of_unknown_server(),
        };
        recording.failed(error.code());
        error
    }

    fn prepared(&self, key: &ToolKey) -> Option<PreparedCall> {
        let Captured {
            places,
            servers,
            authorities,
            gates,
            ..
        } = &*self.captured;
        let (_, place) = places[places.binary_search_by(|(other, _)| other.cmp(key)).ok()?];
        let BoundServer {
            slot,
            connection,
            snapshot,
        } = &servers[place.server];
        let owner = self.owner(connection.key());
        let authority = authorities.get(owner).cloned().unwrap_or_default();
        Some(PreparedCall::new(
            Target::new(key.clone(), owner.clone(), snapshot.clone(), place.item),
            connection.clone(),
            slot.clone(),
            authority,
            gates.clone(),
        ))
    }

    /// The environment that owns a server; the host's servers live under the primary one (S8).
    fn owner<'a>(&'a self, server: &'a McpServerKey) -> &'a EnvironmentId {
        match server.scope() {
            ServerScope::Environment(id) => id,
            ServerScope::Host => self.captured.scope.selected.primary(),
        }
    }
}

impl BoundServer {
    fn is_current(&self, connection: &Arc<Connection>) -> bool {
        Arc::ptr_eq(&self.connection, connection)
            && self.snapshot.revision() == connection.catalog().snapshot().revision()
    }
}

impl LostServer {
    fn new(slot: &Arc<Slot>, profile: &NameProfile, outage: Outage) -> Self {
        Self {
            slot: slot.clone(),
            prefix: profile.namespace(&slot.key) + "__",
            outage,
        }
    }

    fn error(&self) -> PrepareErrorKind {
        PrepareErrorKind::Disconnected {
            server: self.slot.key.clone(),
            outage: self.outage.clone(),
        }
    }
}
