//! The decisions of one runtime.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mcp_keys::ToolKey;

use super::mode::is_harmless;
use super::{
    ApprovalDecision, ApprovalMode, ApprovalPolicy, ApprovalRequest, ApprovalStore, Approver,
    DefinitionDigest, LaunchFingerprint, StoredApproval,
};
use crate::call::{Blocked, IntendedCall, unharmed};
use crate::chain::ErrorChain;
use crate::deadline::Deadline;

/// A host's policy, and what was approved since the runtime began (A1).
#[derive(Debug)]
pub(crate) struct Approvals {
    policy: ApprovalPolicy,
    /// Tools as they were defined.
    until_the_end: Mutex<HashSet<(ToolKey, DefinitionDigest)>>,
}

/// A call that somebody has to say yes to.
pub(crate) struct Undecided<'a> {
    pub(crate) call: &'a IntendedCall,
    /// The mode of its tool or its server.
    pub(crate) mode: Option<ApprovalMode>,
    pub(crate) launch: LaunchFingerprint,
    /// Stands still while somebody is asked.
    pub(crate) deadline: &'a Deadline,
    /// For how long at most.
    pub(crate) patience: Duration,
}

impl Approvals {
    pub(crate) fn new(policy: ApprovalPolicy) -> Self {
        Self {
            policy,
            until_the_end: Mutex::default(),
        }
    }

    /// Whether this mode lets every call pass.
    pub(crate) fn lets_pass(&self, mode: Option<ApprovalMode>) -> bool {
        mode.unwrap_or(self.policy.otherwise) == ApprovalMode::Approve
    }

    /// Whether the call may be made.
    pub(crate) async fn decide(&self, undecided: &Undecided<'_>) -> Result<(), Blocked> {
        match undecided.mode.unwrap_or(self.policy.otherwise) {
            ApprovalMode::Approve => Ok(()),
            ApprovalMode::Deny => Err(Blocked::ByConfiguration),
            ApprovalMode::Auto if is_harmless(undecided.call.tool()) => Ok(()),
            ApprovalMode::Auto | ApprovalMode::Prompt => self.prompt(undecided).await,
        }
    }

    async fn prompt(&self, undecided: &Undecided<'_>) -> Result<(), Blocked> {
        let call = undecided.call;
        let definition = DefinitionDigest::of(call.definition());
        let remembered = (call.key().clone(), definition);
        if self.until_the_end().contains(&remembered) {
            return Ok(());
        }
        let kept = StoredApproval::new(call.key().clone(), definition, undecided.launch);
        if let Some(store) = &self.policy.store
            && is_kept(store, &kept).await?
        {
            return Ok(());
        }
        let Some(approver) = &self.policy.approver else {
            return Err(Blocked::NobodyToApprove);
        };
        match ask(approver, undecided, definition).await? {
            ApprovalDecision::Deny => return Err(Blocked::NotApproved),
            ApprovalDecision::Once => {}
            ApprovalDecision::Session => drop(self.until_the_end().insert(remembered)),
            ApprovalDecision::Always => {
                self.until_the_end().insert(remembered);
                if let Some(store) = &self.policy.store {
                    keep(store, kept).await?;
                }
            }
        }
        Ok(())
    }

    fn until_the_end(&self) -> MutexGuard<'_, HashSet<(ToolKey, DefinitionDigest)>> {
        // Every operation on the set is complete or has not begun.
        self.until_the_end
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

async fn ask(
    approver: &Arc<dyn Approver>,
    undecided: &Undecided<'_>,
    definition: DefinitionDigest,
) -> Result<ApprovalDecision, Blocked> {
    let request = ApprovalRequest::new(undecided.call.clone(), definition);
    let _standing_still = undecided.deadline.stand_still(undecided.patience);
    unharmed("approver", async { approver.approve(request).await }).await
}

/// What cannot be looked up was not approved.
async fn is_kept(
    store: &Arc<dyn ApprovalStore>,
    approval: &StoredApproval,
) -> Result<bool, Blocked> {
    let looked = unharmed("approval store", async { store.contains(approval).await }).await?;
    Ok(looked.unwrap_or_else(|error| {
        let (tool, error) = (approval.tool(), ErrorChain(&*error));
        tracing::warn!(%tool, %error, "kept approvals cannot be looked up; asking again");
        false
    }))
}

/// What cannot be kept holds until the runtime ends.
async fn keep(store: &Arc<dyn ApprovalStore>, approval: StoredApproval) -> Result<(), Blocked> {
    let tool = approval.tool().clone();
    let kept = unharmed("approval store", async { store.insert(approval).await }).await?;
    if let Err(error) = kept {
        let error = ErrorChain(&*error);
        tracing::warn!(%tool, %error, "an approval cannot be kept; it holds until the end of this runtime");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use mcp_catalog::LiveCatalog;
    use mcp_keys::McpServerKey;
    use serde_json::value::RawValue;
    use tokio::time::sleep;

    use super::*;
    use crate::call::CallId;
    use crate::config::{StdioTransport, Transport};
    use crate::tool::Tool;

    fn raw(json: &str) -> Box<RawValue> {
        RawValue::from_string(json.to_owned()).unwrap()
    }

    fn call() -> IntendedCall {
        let catalog = LiveCatalog::new();
        let tool = Tool::new("t".parse().unwrap(), raw(r#"{"name":"t"}"#));
        catalog.publish(catalog.begin(), [tool]).unwrap();
        let key = ToolKey::new(
            McpServerKey::host("docs".parse().unwrap()),
            "t".parse().unwrap(),
        );
        IntendedCall::new(CallId::next(), key, catalog.snapshot(), 0, raw("{}").into())
    }

    /// B3: the time of a person is not that of the call, as long as the pause counts.
    #[tokio::test(flavor = "current_thread", start_paused = true)]
    async fn the_clock_stands_still_while_somebody_thinks() {
        let minutes = |minutes: u64| Duration::from_secs(60 * minutes);
        let budget = minutes(1);
        for (thinks, left, why) in [
            (minutes(9), Some(budget), "within the patience"),
            (
                minutes(11) - Duration::from_secs(30),
                Some(Duration::from_secs(30)),
                "beyond it",
            ),
            (minutes(60), None, "far beyond it"),
        ] {
            let approvals = Approvals::new(ApprovalPolicy::ask(move |_request| async move {
                sleep(thinks).await;
                ApprovalDecision::Once
            }));
            let launch = Transport::Stdio(StdioTransport::new("docs"));
            let deadline = Deadline::after(budget);
            let undecided = Undecided {
                call: &call(),
                mode: None,
                launch: LaunchFingerprint::of(None, &[], None, &launch),
                deadline: &deadline,
                patience: minutes(10),
            };
            let decided = deadline.bound(approvals.decide(&undecided)).await;
            assert_eq!(decided.ok().map(|_| deadline.remaining()), left, "{why}");
        }
    }
}
