//! Whether a call is approved.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mcp_keys::ToolKey;

use super::policy::Policy;
use super::{
    ApprovalDecision, ApprovalMode, ApprovalPolicy, ApprovalRecord, ApprovalStore, Approver,
    DefinitionDigest,
};
use crate::call::blocked::{Blocked, CallHandler};
use crate::call::wait::Wait;
use crate::call::{CallErrorKind, Invocation};
use crate::chain::ErrorChain;
use crate::slot::Slot;

/// The approvals of one runtime.
#[derive(Debug)]
pub(crate) struct Approvals {
    policy: ApprovalPolicy,
    session: Session,
}

/// What was approved until the runtime ends. How each of its servers is launched does not change.
#[derive(Debug, Default)]
struct Session(Mutex<HashSet<(ToolKey, DefinitionDigest)>>);

impl Approvals {
    pub(crate) fn new(policy: ApprovalPolicy) -> Self {
        Self {
            policy,
            session: Session::default(),
        }
    }

    /// Waits until a call is approved, or fails.
    pub(in crate::call) async fn pass(
        &self,
        call: impl FnOnce() -> Invocation,
        tool: &ToolKey,
        slot: &Slot,
        wait: Wait<'_>,
    ) -> Result<(), CallErrorKind> {
        let ApprovalPolicy(policy) = &self.policy;
        let mode = slot.config.approval_mode(tool.tool());
        let mode = mode.unwrap_or_else(|| policy.mode());
        match mode {
            ApprovalMode::Approve => return Ok(()),
            ApprovalMode::Deny => return Err(Blocked::Mode.into()),
            ApprovalMode::Auto | ApprovalMode::Prompt => {}
        }
        let call = call();
        if mode == ApprovalMode::Auto && call.tool().is_harmless() {
            return Ok(());
        }
        let Policy::Ask { approver, store } = policy else {
            return Err(Blocked::NoApprover.into());
        };
        let digest = call.definition_digest();
        if self.session.contains(tool, digest) {
            return Ok(());
        }
        let asked = Asked {
            call,
            digest,
            slot,
            store: store.as_deref(),
            wait,
        };
        if asked.is_kept().await? {
            return Ok(());
        }
        match asked.decision(approver).await? {
            ApprovalDecision::Once => {}
            ApprovalDecision::Session => self.session.insert(tool, digest),
            ApprovalDecision::Always => {
                self.session.insert(tool, digest);
                asked.keep().await?;
            }
            ApprovalDecision::Deny => return Err(Blocked::Approval.into()),
        }
        Ok(())
    }
}

/// A call that needs an approval.
struct Asked<'a> {
    call: Invocation,
    digest: DefinitionDigest,
    slot: &'a Slot,
    store: Option<&'a dyn ApprovalStore>,
    wait: Wait<'a>,
}

impl Asked<'_> {
    /// Asks the approver, while the clock stands still (B3).
    async fn decision(
        &self,
        approver: &Arc<dyn Approver>,
    ) -> Result<ApprovalDecision, CallErrorKind> {
        let patience = self.slot.config.interaction_patience();
        let _standing_still = self.wait.deadline.stand_still(patience);
        let deciding = async { approver.approve(self.call.clone()).await };
        self.wait.of(CallHandler::Approver, deciding).await
    }

    /// Whether it was approved in another session.
    async fn is_kept(&self) -> Result<bool, CallErrorKind> {
        let Some(store) = self.store else {
            return Ok(false);
        };
        let record = self.record();
        let looking = async { store.contains(&record).await };
        match self.wait.of(CallHandler::ApprovalStore, looking).await? {
            Ok(kept) => Ok(kept),
            Err(error) => {
                tracing::warn!(tool = %record.tool(), error = %ErrorChain(&error), "an approval cannot be looked up");
                Ok(false)
            }
        }
    }

    async fn keep(&self) -> Result<(), CallErrorKind> {
        let Some(store) = self.store else {
            return Ok(());
        };
        let record = self.record();
        let keeping = async { store.insert(&record).await };
        let kept = self.wait.of(CallHandler::ApprovalStore, keeping).await?;
        if let Err(error) = kept {
            tracing::warn!(tool = %record.tool(), error = %ErrorChain(&error), "an approval cannot be kept");
        }
        Ok(())
    }

    fn record(&self) -> ApprovalRecord {
        let launch = self.slot.fingerprint();
        ApprovalRecord::new(self.call.key().clone(), self.digest, launch)
    }
}

impl Session {
    fn contains(&self, tool: &ToolKey, digest: DefinitionDigest) -> bool {
        // A set of pairs cannot be asked for a borrowed one.
        self.approved().contains(&(tool.clone(), digest))
    }

    fn insert(&self, tool: &ToolKey, digest: DefinitionDigest) {
        self.approved().insert((tool.clone(), digest));
    }

    fn approved(&self) -> MutexGuard<'_, HashSet<(ToolKey, DefinitionDigest)>> {
        // Every operation of the set is complete or has not begun.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
