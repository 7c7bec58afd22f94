//! Who approves calls.

use std::fmt;
use std::sync::Arc;

use super::{ApprovalMode, ApprovalStore};
use crate::call::Invocation;
use crate::elicitation::HandlerFuture;

/// Who approves the calls of a runtime (A1). There is no default: whoever builds a runtime chooses.
///
/// A server's configuration refines it, for the server or for single tools, with an [`ApprovalMode`]. Where it says
/// nothing, [`approve_all`](Self::approve_all) approves, and [`ask`](Self::ask) asks.
///
/// ```
/// use mcp_runtime::{ApprovalDecision, ApprovalFile, ApprovalPolicy, Invocation, McpRuntime};
///
/// let policy = ApprovalPolicy::ask(|call: Invocation| async move {
///     println!("{} wants to run with {}", call.key(), call.arguments());
///     ApprovalDecision::Once
/// });
/// let builder = McpRuntime::builder(policy.remembering(ApprovalFile::new("approvals.json")));
/// # let _ = builder;
/// ```
#[derive(Clone)]
#[must_use]
pub struct ApprovalPolicy(pub(super) Policy);

#[derive(Clone)]
pub(super) enum Policy {
    ApproveAll,
    Ask {
        approver: Arc<dyn Approver>,
        store: Option<Arc<dyn ApprovalStore>>,
    },
}

impl ApprovalPolicy {
    /// The host has authority over every call that it makes. A tool whose mode asks for an approval nevertheless is
    /// denied, since there is nobody to be asked.
    pub fn approve_all() -> Self {
        Self(Policy::ApproveAll)
    }

    /// Asks for each call, until the answer says for longer.
    pub fn ask(approver: impl Approver) -> Self {
        Self(Policy::Ask {
            approver: Arc::new(approver),
            store: None,
        })
    }

    /// Keeps what is approved [always](ApprovalDecision::Always) for other runtimes and for later. Without a store, always
    /// ends with the runtime. Where nobody is asked there is nothing to keep.
    pub fn remembering(mut self, kept: impl ApprovalStore) -> Self {
        if let Policy::Ask { store, .. } = &mut self.0 {
            *store = Some(Arc::new(kept));
        }
        self
    }
}

impl Policy {
    /// The mode of a tool of which the configuration says nothing.
    pub(super) fn mode(&self) -> ApprovalMode {
        match self {
            Self::ApproveAll => ApprovalMode::Approve,
            Self::Ask { .. } => ApprovalMode::Prompt,
        }
    }
}

impl fmt::Debug for ApprovalPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Policy::ApproveAll => "ApproveAll",
            Policy::Ask { .. } => "Ask",
        })
    }
}

/// Approves or denies calls, by asking a person for example (A1).
///
/// The clock of the call stands still meanwhile, for the server's `interaction_timeout` at most; then it runs on (B3). The
/// future is dropped when nobody wants the answer any more: the call was cancelled, its time is over, or its server is
/// gone. No lock is held: an approver may use the runtime. One that panics has denied.
///
/// An approver that keeps the runtime keeps it for ever, since the runtime keeps the approver: give it a
/// [`Weak`](std::sync::Weak). A function is an approver, see [`ApprovalPolicy`].
pub trait Approver: Send + Sync + 'static {
    /// Decides on a call, with the arguments that hooks have left it.
    fn approve(&self, call: Invocation) -> HandlerFuture<'_, ApprovalDecision>;
}

impl<F, A> Approver for F
where
    F: Fn(Invocation) -> A + Send + Sync + 'static,
    A: Future<Output = ApprovalDecision> + Send + 'static,
{
    fn approve(&self, call: Invocation) -> HandlerFuture<'_, ApprovalDecision> {
        Box::pin(self(call))
    }
}

/// What an approver says.
///
/// An approval that is more than for once is for this tool of this server in this environment, and for as long as its
/// definition amounts to the same: see [`DefinitionDigest`](super::DefinitionDigest). The arguments may be others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ApprovalDecision {
    /// This call.
    Once,
    /// This tool, until the runtime ends.
    Session,
    /// This tool, from now on, for as long as its server is launched in the same way: see [`LaunchFingerprint`](super::LaunchFingerprint).
    Always,
    /// Not this call.
    Deny,
}
