//! Approvals of whoever runs the session (A1).

use mcp_runtime::{ApprovalDecision, Approver, HandlerFuture, Invocation};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::caller::Caller;
use super::question::Questions;
use crate::report::ErrorReport;

/// Asks for approvals.
pub(super) struct Approvals(pub(super) Caller);

/// `approval_reply`.
#[derive(Debug, Deserialize)]
pub(super) struct Reply {
    request: u64,
    decision: Decision,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Decision {
    Once,
    Session,
    Always,
    Deny,
}

impl Reply {
    pub(super) fn answer(
        &self,
        approvals: &Questions<ApprovalDecision>,
    ) -> Result<(), ErrorReport> {
        let decision = match self.decision {
            Decision::Once => ApprovalDecision::Once,
            Decision::Session => ApprovalDecision::Session,
            Decision::Always => ApprovalDecision::Always,
            Decision::Deny => ApprovalDecision::Deny,
        };
        approvals.answer(self.request, || Ok(decision))
    }
}

#[derive(Serialize)]
struct Details<'a> {
    arguments: &'a RawValue,
    definition_digest: String,
}

impl Approver for Approvals {
    fn approve(&self, call: Invocation) -> HandlerFuture<'_, ApprovalDecision> {
        Box::pin(async move {
            let Self(caller) = self;
            let details = Details {
                arguments: call.arguments(),
                definition_digest: call.definition_digest().to_string(),
            };
            let approvals = &caller.open.approvals;
            let decision = caller.ask("approval", &call, details, approvals).await;
            decision.unwrap_or(ApprovalDecision::Deny)
        })
    }
}
