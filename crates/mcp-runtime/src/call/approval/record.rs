//! An approval that is kept.

use mcp_keys::ToolKey;

use super::{DefinitionDigest, LaunchFingerprint};

/// What was approved: which tool of which server and environment, what its definition amounted to, and what was launched
/// (A1). An approval is for exactly this; with any part another, it is none.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ApprovalRecord {
    tool: ToolKey,
    definition: DefinitionDigest,
    launch: LaunchFingerprint,
}

impl ApprovalRecord {
    pub(super) fn new(
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

    /// What its definition amounted to.
    #[must_use]
    pub fn definition(&self) -> DefinitionDigest {
        self.definition
    }

    /// What was launched.
    #[must_use]
    pub fn launch(&self) -> LaunchFingerprint {
        self.launch
    }
}
