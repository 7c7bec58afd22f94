//! A call that is bound to what was captured.

use std::sync::Arc;

use mcp_catalog::CatalogSnapshot;
use mcp_keys::ToolKey;

use super::CallId;
use super::gate::Gate;
use crate::approval::DefinitionDigest;
use crate::authority::Authority;
use crate::connection::Connection;
use crate::slot::Slot;
use crate::tool::Tool;

/// One call of one tool on one connection, decided when it was prepared (B2).
///
/// It runs on what it captured, or fails: never on another server, never on a definition nobody has seen. It runs once;
/// calling again means preparing again.
#[derive(Debug)]
pub struct PreparedCall {
    pub(super) id: CallId,
    pub(super) key: ToolKey,
    pub(super) slot: Arc<Slot>,
    pub(super) connection: Arc<Connection>,
    pub(super) snapshot: Arc<CatalogSnapshot<Tool>>,
    pub(super) item: usize,
    pub(super) authority: Authority,
    pub(super) gate: Arc<Gate>,
}

/// Where a tool is that is to be called.
#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) slot: Arc<Slot>,
    pub(crate) connection: Arc<Connection>,
    pub(crate) snapshot: Arc<CatalogSnapshot<Tool>>,
    pub(crate) item: usize,
}

impl PreparedCall {
    pub(crate) fn new(key: ToolKey, target: Target, authority: Authority, gate: Arc<Gate>) -> Self {
        let Target {
            slot,
            connection,
            snapshot,
            item,
        } = target;
        Self {
            id: CallId::next(),
            key,
            slot,
            connection,
            snapshot,
            item,
            authority,
            gate,
        }
    }

    /// The name of this call, as progress events carry it.
    #[must_use]
    pub fn id(&self) -> CallId {
        self.id
    }

    /// The tool to be called.
    #[must_use]
    pub fn key(&self) -> &ToolKey {
        &self.key
    }

    /// The definition the call was prepared with.
    #[must_use]
    pub fn tool(&self) -> &Tool {
        &self.snapshot.items()[self.item]
    }

    /// What an approval of the tool is bound to (A1).
    #[must_use]
    pub fn definition_digest(&self) -> DefinitionDigest {
        DefinitionDigest::of(self.tool().definition())
    }
}
