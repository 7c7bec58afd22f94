//! Who is asked.

use std::fmt;

use crate::approval::DefinitionDigest;
use crate::call::IntendedCall;
use crate::elicitation::HandlerFuture;

/// Decides on calls, usually by asking a person (A1).
///
/// The clock of a call stands still while its approval is open, for the server's `interaction_timeout` at most (B3). The
/// future is dropped when nobody wants the decision any more: the call was given up, or its server is gone. No lock is
/// held: an approver may call the runtime.
///
/// A function is an approver:
///
/// ```
/// use mcp_runtime::{ApprovalDecision, ApprovalPolicy, ApprovalRequest};
///
/// let policy = ApprovalPolicy::ask(|request: ApprovalRequest| async move {
///     println!("{} with {}?", request.call().key(), request.call().arguments());
///     ApprovalDecision::Once
/// });
/// # let _ = policy;
/// ```
pub trait Approver: Send + Sync + 'static {
    /// Decides. A panic counts as no.
    fn approve(&self, request: ApprovalRequest) -> HandlerFuture<'_, ApprovalDecision>;
}

impl<F, A> Approver for F
where
    F: Fn(ApprovalRequest) -> A + Send + Sync + 'static,
    A: Future<Output = ApprovalDecision> + Send + 'static,
{
    fn approve(&self, request: ApprovalRequest) -> HandlerFuture<'_, ApprovalDecision> {
        Box::pin(self(request))
    }
}

/// A call that needs a yes.
#[derive(Clone)]
pub struct ApprovalRequest {
    call: IntendedCall,
    digest: DefinitionDigest,
}

/// What was decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ApprovalDecision {
    /// Yes, this call.
    Once,
    /// Yes, and every other call of the tool as it is defined now, until the runtime ends.
    Session,
    /// Yes, for good: as long as the tool is defined and its server started as now.
    Always,
    /// No.
    Deny,
}

impl ApprovalRequest {
    pub(crate) fn new(call: IntendedCall, digest: DefinitionDigest) -> Self {
        Self { call, digest }
    }

    /// The call, as it would be sent.
    #[must_use]
    pub fn call(&self) -> &IntendedCall {
        &self.call
    }

    /// What an approval for longer is bound to: another definition asks again.
    #[must_use]
    pub fn definition_digest(&self) -> DefinitionDigest {
        self.digest
    }
}

impl fmt::Debug for ApprovalRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApprovalRequest")
            .field("call", &self.call)
            .field("digest", &self.digest)
            .finish()
    }
}
