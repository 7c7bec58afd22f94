//! Approvals: who says that a tool may run, and how often that has to be said (A1).

mod canonical;
mod digest;
mod file;
mod gate;
mod hash;
mod launch;
mod mode;
mod policy;
mod record;
mod store;

pub use digest::DefinitionDigest;
pub use file::{ApprovalFile, ApprovalFileError, ApprovalFileErrorKind};
pub(crate) use gate::Approvals;
pub use launch::LaunchFingerprint;
pub use mode::ApprovalMode;
pub(crate) use mode::ApprovalModes;
pub use policy::{ApprovalDecision, ApprovalPolicy, Approver};
pub use record::ApprovalRecord;
pub use store::{ApprovalStore, ApprovalStoreError};
