//! One call of one tool, from the name to the result.

mod access;
mod blocked;
mod budget;
mod error;
mod execute;
mod gate;
mod hook;
mod intended;
mod options;
mod output;
mod prepared;
mod request_meta;

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

pub use access::{Access, AccessLookup};
pub use blocked::Blocked;
pub(crate) use blocked::unharmed;
pub(crate) use budget::CallBudget;
pub use error::{CallError, CallErrorKind, PrepareError, PrepareErrorKind};
pub(crate) use gate::Gate;
pub use hook::{CallEnd, HookAnswer, ToolHook};
pub use intended::IntendedCall;
pub use options::CallOptions;
pub use output::ToolOutput;
pub use prepared::PreparedCall;
pub(crate) use prepared::Target;

/// Names one call within this process, so that its progress can be told from others'.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId(u64);

impl CallId {
    pub(crate) fn next() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
