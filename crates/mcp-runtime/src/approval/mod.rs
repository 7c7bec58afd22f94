//! Who may say yes to a call, and what is remembered of it (A1).

mod approvals;
mod approver;
mod canonical;
mod digest;
mod file;
mod launch;
mod mode;
mod policy;
mod store;

pub(crate) use approvals::{Approvals, Undecided};
pub use approver::{ApprovalDecision, ApprovalRequest, Approver};
pub use digest::DefinitionDigest;
pub use file::{ApprovalFileError, ApprovalFileErrorKind, FileApprovalStore};
pub use launch::LaunchFingerprint;
pub use mode::ApprovalMode;
pub(crate) use mode::ApprovalModes;
pub use policy::ApprovalPolicy;
pub use store::{ApprovalStore, StoreError, StoredApproval};
