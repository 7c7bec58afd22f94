//! A call that was not made because somebody on this side said no.

use std::fmt;

use mcp_keys::McpServerKey;

/// Who said no, and how. Nothing was sent to the server.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Blocked {
    /// A hook denied the call (H1).
    #[error("a hook denied the call: {message}")]
    Hook {
        /// What the hook says.
        message: String,
    },
    /// A hook answered for another server than that of the call (H1).
    #[error("a hook answered for server `{named}`, and may not move the call there")]
    Moved {
        /// The server it named.
        named: McpServerKey,
    },
    /// The tool's approval mode is `deny` (A1).
    #[error("the configuration denies the tool")]
    Mode,
    /// Whoever was asked denied the call (A1).
    #[error("the call was not approved")]
    Approval,
    /// The tool's approval mode asks for an approval, and the host's policy names nobody who gives one (A1).
    #[error("the tool needs an approval, and there is nobody to be asked")]
    NoApprover,
    /// The access lookup refused (L1).
    #[error("access was refused: {message}")]
    Access {
        /// What the lookup says.
        message: String,
    },
    /// A handler of the host's panicked. What it would have said is not known.
    #[error("the host's {handler} panicked")]
    Panicked {
        /// Which one.
        handler: CallHandler,
    },
}

/// What a host may put before a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallHandler {
    /// A [`ToolHook`](crate::ToolHook).
    Hook,
    /// The [`Approver`](crate::Approver).
    Approver,
    /// The [`ApprovalStore`](crate::ApprovalStore).
    ApprovalStore,
    /// The [`AccessLookup`](crate::AccessLookup).
    AccessLookup,
}

impl fmt::Display for CallHandler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Hook => "hook",
            Self::Approver => "approver",
            Self::ApprovalStore => "store of approvals",
            Self::AccessLookup => "access lookup",
        })
    }
}
