//! A call, as those see it whom the host has put before its server.

use std::fmt;
use std::sync::Arc;

use mcp_catalog::CatalogSnapshot;
use mcp_keys::{EnvironmentId, McpServerKey, ToolKey};
use serde_json::value::RawValue;

use super::{CallId, DefinitionDigest};
use crate::tool::Tool;

/// One call of one tool, as hooks, approvers and access lookups see it: whose tool it is, and with which arguments. It
/// can be looked at and not changed. Cloning is cheap.
#[derive(Clone)]
pub struct Invocation {
    target: Arc<Target>,
    arguments: Arc<RawValue>,
}

/// What a call is of, decided when it was prepared.
#[derive(Debug)]
pub(crate) struct Target {
    pub(super) id: CallId,
    pub(super) key: ToolKey,
    /// The environment under whose authority it runs.
    pub(super) environment: EnvironmentId,
    pub(super) snapshot: Arc<CatalogSnapshot<Tool>>,
    pub(super) item: usize,
}

impl Target {
    pub(crate) fn new(
        key: ToolKey,
        environment: EnvironmentId,
        snapshot: Arc<CatalogSnapshot<Tool>>,
        item: usize,
    ) -> Self {
        Self {
            id: CallId::next(),
            key,
            environment,
            snapshot,
            item,
        }
    }

    pub(super) fn tool(&self) -> &Tool {
        &self.snapshot.items()[self.item]
    }
}

impl Invocation {
    pub(super) fn new(target: &Arc<Target>, arguments: &Arc<RawValue>) -> Self {
        Self {
            target: target.clone(),
            arguments: arguments.clone(),
        }
    }

    /// The call's own name, the one of its [`PreparedCall`](super::PreparedCall).
    #[must_use]
    pub fn id(&self) -> CallId {
        self.target.id
    }

    /// The exact identity of the tool.
    #[must_use]
    pub fn key(&self) -> &ToolKey {
        &self.target.key
    }

    /// The server that has the tool.
    #[must_use]
    pub fn server(&self) -> &McpServerKey {
        self.target.key.server()
    }

    /// The environment under whose authority the call is made: the one that owns the server; for a server of the host's
    /// own, the primary one.
    #[must_use]
    pub fn environment(&self) -> &EnvironmentId {
        &self.target.environment
    }

    /// The tool's definition, as the call was prepared with it.
    #[must_use]
    pub fn tool(&self) -> &Tool {
        self.target.tool()
    }

    /// What the definition amounts to, see [`DefinitionDigest`].
    #[must_use]
    pub fn definition_digest(&self) -> DefinitionDigest {
        DefinitionDigest::of(self.tool())
    }

    /// The arguments, a JSON object, with what hooks that came before have made of them.
    #[must_use]
    pub fn arguments(&self) -> &RawValue {
        &self.arguments
    }
}

impl fmt::Debug for Invocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Arguments may hold secrets.
        f.debug_struct("Invocation")
            .field("id", &self.id())
            .field("key", self.key())
            .field("environment", self.environment())
            .finish_non_exhaustive()
    }
}
