//! What an environment allows its servers, as its host is shown it (E1).

use mcp_sandbox_meta::SandboxState;

/// Whether servers of an environment may ask a person anything (E1).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ElicitationPolicy {
    /// The runtime's [handler](crate::ElicitationHandler) is asked.
    #[default]
    Ask,
    /// Nobody is asked: every elicitation is declined.
    Decline,
}

impl ElicitationPolicy {
    /// `ask` or `decline`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::Decline => "decline",
        }
    }
}

/// The permissions of the environment that owns a server, or of the primary one for a server of the host.
#[derive(Debug, Clone, Default)]
pub struct Permissions {
    elicitation: ElicitationPolicy,
    sandbox_state: Option<SandboxState>,
}

impl Permissions {
    pub(crate) fn new(elicitation: ElicitationPolicy, sandbox_state: Option<SandboxState>) -> Self {
        Self {
            elicitation,
            sandbox_state,
        }
    }

    /// Whether its servers may ask a person anything.
    #[must_use]
    pub fn elicitation(&self) -> ElicitationPolicy {
        self.elicitation
    }

    /// The sandbox state under which its servers are called, opaque to this crate (S3).
    #[must_use]
    pub fn sandbox_state(&self) -> Option<&SandboxState> {
        self.sandbox_state.as_ref()
    }
}
