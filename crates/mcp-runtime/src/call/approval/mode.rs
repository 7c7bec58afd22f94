//! How a server's or tool's calls come to be approved.

use std::collections::BTreeMap;

/// What a configuration says of the approval of a server's calls, or of one tool's (A1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ApprovalMode {
    /// The server is trusted to say which of its tools are harmless: one that it calls read-only and does not call
    /// destructive runs, every other needs an approval. Only for servers that one trusts.
    Auto,
    /// Every call needs an approval.
    Prompt,
    /// Every call is approved.
    Approve,
    /// No call is made.
    Deny,
}

/// The modes of one server.
#[derive(Debug, Clone, Default)]
pub(crate) struct ApprovalModes {
    pub(crate) server: Option<ApprovalMode>,
    /// By the server's own names for its tools.
    pub(crate) tools: BTreeMap<String, ApprovalMode>,
}

impl ApprovalModes {
    /// The tool's own mode, else that of the server; `None` when neither says anything.
    pub(crate) fn of(&self, tool: &str) -> Option<ApprovalMode> {
        self.tools.get(tool).copied().or(self.server)
    }
}
