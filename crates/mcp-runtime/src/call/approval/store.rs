//! Where approvals are kept.

use std::error::Error;

use super::ApprovalRecord;
use crate::elicitation::HandlerFuture;

/// Keeps approvals for longer than a runtime lives (A1). [`ApprovalFile`](super::ApprovalFile) is one.
///
/// It is asked at each call that needs an approval, in the call's own time. When it fails, the log says so: a call whose
/// approval cannot be looked up asks again, and one whose approval cannot be kept runs all the same.
pub trait ApprovalStore: Send + Sync + 'static {
    /// Whether exactly this was approved.
    fn contains<'a>(
        &'a self,
        approval: &'a ApprovalRecord,
    ) -> HandlerFuture<'a, Result<bool, ApprovalStoreError>>;

    /// Keeps an approval. Keeping it again is no error.
    fn insert<'a>(
        &'a self,
        approval: &'a ApprovalRecord,
    ) -> HandlerFuture<'a, Result<(), ApprovalStoreError>>;
}

/// A store could not be read or written, for the reason that is its source.
#[derive(Debug, thiserror::Error)]
#[error("the store of approvals failed")]
pub struct ApprovalStoreError(#[source] Box<dyn Error + Send + Sync>);

impl ApprovalStoreError {
    /// For a reason of the store's own.
    pub fn new(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(source.into())
    }
}
