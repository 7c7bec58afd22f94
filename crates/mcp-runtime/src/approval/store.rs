//! Approvals that outlive a runtime.

use mcp_keys::ToolKey;
use serde::{Deserialize, Serialize};

use super::{DefinitionDigest, LaunchFingerprint};
use crate::elicitation::HandlerFuture;

/// Why a store cannot say or keep something.
pub type StoreError = Box<dyn std::error::Error + Send + Sync>;

/// Keeps approvals (A1). Its time counts as the call's (B3).
///
/// What cannot be looked up is asked for again, and what cannot be kept holds until the runtime ends; either is logged.
pub trait ApprovalStore: Send + Sync + 'static {
    /// Whether exactly this was approved.
    fn contains<'a>(
        &'a self,
        approval: &'a StoredApproval,
    ) -> HandlerFuture<'a, Result<bool, StoreError>>;

    /// Keeps it.
    fn insert(&self, approval: StoredApproval) -> HandlerFuture<'_, Result<(), StoreError>>;
}

/// An approval for good: of one tool, as it is defined, of a server as it is started (A1).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoredApproval {
    tool: ToolKey,
    definition: DefinitionDigest,
    launch: LaunchFingerprint,
}

impl StoredApproval {
    pub(crate) fn new(
        tool: ToolKey,
        definition: DefinitionDigest,
        launch: LaunchFingerprint,
    ) -> Self {
        Self {
            tool,
            definition,
            launch,
        }
    }

    /// The tool.
    #[must_use]
    pub fn tool(&self) -> &ToolKey {
        &self.tool
    }

    /// Its definition.
    #[must_use]
    pub fn definition(&self) -> DefinitionDigest {
        self.definition
    }

    /// How its server is started.
    #[must_use]
    pub fn launch(&self) -> LaunchFingerprint {
        self.launch
    }
}
