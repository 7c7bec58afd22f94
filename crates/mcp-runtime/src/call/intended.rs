//! A call that is about to be made.

use std::fmt;
use std::sync::Arc;

use mcp_catalog::CatalogSnapshot;
use mcp_keys::{EnvironmentId, ToolKey};
use serde_json::value::RawValue;

use super::CallId;
use crate::tool::Tool;

/// A call as those see it who decide on it: hooks, the approver, the access lookup. Cloning is cheap.
///
/// The arguments are the model's, the definition is the server's: neither is to be trusted.
#[derive(Clone)]
pub struct IntendedCall {
    id: CallId,
    key: ToolKey,
    snapshot: Arc<CatalogSnapshot<Tool>>,
    item: usize,
    arguments: Arc<RawValue>,
}

impl IntendedCall {
    pub(crate) fn new(
        id: CallId,
        key: ToolKey,
        snapshot: Arc<CatalogSnapshot<Tool>>,
        item: usize,
        arguments: Arc<RawValue>,
    ) -> Self {
        Self {
            id,
            key,
            snapshot,
            item,
            arguments,
        }
    }

    /// The call.
    #[must_use]
    pub fn id(&self) -> CallId {
        self.id
    }

    /// The tool, with the server that owns it. Nothing changes that any more (H1).
    #[must_use]
    pub fn key(&self) -> &ToolKey {
        &self.key
    }

    /// The environment that owns the server; `None` when the host does.
    #[must_use]
    pub fn environment_id(&self) -> Option<&EnvironmentId> {
        self.key.server().environment()
    }

    /// The tool's definition.
    #[must_use]
    pub fn tool(&self) -> &Tool {
        &self.snapshot.items()[self.item]
    }

    /// The tool's definition as its server wrote it.
    #[must_use]
    pub fn definition(&self) -> &RawValue {
        self.tool().definition()
    }

    /// The arguments as they would be sent, a JSON object.
    #[must_use]
    pub fn arguments(&self) -> &RawValue {
        &self.arguments
    }

    pub(super) fn with_arguments(&self, arguments: Box<RawValue>) -> Self {
        Self {
            arguments: arguments.into(),
            ..self.clone()
        }
    }
}

impl fmt::Debug for IntendedCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Arguments may hold secrets.
        f.debug_struct("IntendedCall")
            .field("id", &self.id)
            .field("key", &self.key)
            .finish_non_exhaustive()
    }
}
