//! One call of one tool, from the name to the result.

mod access;
mod approval;
mod blocked;
mod budget;
mod error;
mod execution;
mod gates;
mod hook;
mod invocation;
mod options;
mod output;
mod prepared;
mod request_meta;
mod wait;

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

pub(crate) use access::Lookup;
pub use access::{Access, AccessLookup};
pub use approval::{
    ApprovalDecision, ApprovalFile, ApprovalFileError, ApprovalFileErrorKind, ApprovalMode,
    ApprovalPolicy, ApprovalRecord, ApprovalStore, ApprovalStoreError, Approver, DefinitionDigest,
    LaunchFingerprint,
};
pub(crate) use approval::{ApprovalModes, Approvals};
pub use blocked::{Blocked, CallHandler};
pub(crate) use budget::CallBudget;
pub use error::{CallError, CallErrorKind, PrepareError, PrepareErrorKind};
pub(crate) use gates::Gates;
pub(crate) use hook::Hook;
pub use hook::{CallOutcome, HookOutput, ToolHook};
pub use invocation::Invocation;
pub(crate) use invocation::Target;
pub use options::CallOptions;
pub use output::ToolOutput;
pub use prepared::PreparedCall;

/// The method of every call.
const METHOD: &str = "tools/call";

/// Names one call within this process, so that its progress can be told from others'.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId(u64);

impl CallId {
    pub(crate) fn next() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }

    pub(crate) fn number(self) -> u64 {
        self.0
    }
}

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
