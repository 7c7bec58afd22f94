//! One call of one tool, from the name to the result.

mod budget;
mod error;
mod output;
mod prepared;
mod request_meta;

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

pub(crate) use budget::CallBudget;
pub use error::{CallError, CallErrorKind, PrepareError, PrepareErrorKind};
pub use output::ToolOutput;
pub use prepared::{CallOptions, PreparedCall};

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
