//! What a host decides when it builds a runtime.

use std::fmt;
use std::sync::Arc;

use super::{ApprovalMode, ApprovalStore, Approver};

/// How a host decides on calls: its choice, made when it builds a runtime (A1). There is no silent default.
///
/// The modes of servers and tools refine it ([`ServerConfig::approval`](crate::ServerConfig::approval)).
#[derive(Clone)]
pub struct ApprovalPolicy {
    pub(super) approver: Option<Arc<dyn Approver>>,
    pub(super) store: Option<Arc<dyn ApprovalStore>>,
    pub(super) otherwise: ApprovalMode,
}

impl ApprovalPolicy {
    /// Every call runs, unless its server's or its tool's mode says otherwise. With nobody to ask, what is to be asked for is
    /// denied.
    #[must_use]
    pub fn approve_all() -> Self {
        Self {
            approver: None,
            store: None,
            otherwise: ApprovalMode::Approve,
        }
    }

    /// Asks for every call, unless its server's or its tool's mode says otherwise, or it was approved before.
    #[must_use]
    pub fn ask(approver: impl Approver) -> Self {
        Self {
            approver: Some(Arc::new(approver)),
            store: None,
            otherwise: ApprovalMode::Prompt,
        }
    }

    /// Keeps what is approved for good. Without a store [`Always`](crate::ApprovalDecision::Always) ends with the runtime.
    #[must_use]
    pub fn store(mut self, store: impl ApprovalStore) -> Self {
        self.store = Some(Arc::new(store));
        self
    }

    /// The mode of whatever has none of its own; otherwise as the policy was made.
    #[must_use]
    pub fn otherwise(mut self, mode: ApprovalMode) -> Self {
        self.otherwise = mode;
        self
    }
}

impl fmt::Debug for ApprovalPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApprovalPolicy")
            .field("asks", &self.approver.is_some())
            .field("keeps", &self.store.is_some())
            .field("otherwise", &self.otherwise)
            .finish()
    }
}
