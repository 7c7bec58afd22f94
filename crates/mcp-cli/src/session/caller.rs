//! Whoever runs a session, as its runtimes ask them.

use std::sync::Arc;

use mcp_runtime::{
    Access, ApprovalDecision, CallId, ElicitationAnswer, Invocation, McpServerKey, ToolName,
};
use serde::Serialize;
use serde_json::value::RawValue;

use super::calls::Calls;
use super::hook;
use super::lines::Output;
use super::question::{Numbers, Question, Questions};

/// Every question of a session that waits for its answer.
#[derive(Debug, Clone)]
pub(super) struct Open {
    pub(super) elicitations: Arc<Questions<ElicitationAnswer>>,
    pub(super) hooks: Arc<Questions<hook::Answer>>,
    pub(super) approvals: Arc<Questions<ApprovalDecision>>,
    pub(super) accesses: Arc<Questions<Access>>,
}

impl Default for Open {
    fn default() -> Self {
        // What is called `request` has one sequence of numbers, whatever it asks for.
        let (elicitations, requests) = (Numbers::default(), Numbers::default());
        Self {
            elicitations: Questions::new("elicitation", &elicitations),
            hooks: Questions::new("hook request", &requests),
            approvals: Questions::new("approval request", &requests),
            accesses: Questions::new("access request", &requests),
        }
    }
}

/// Asks whoever runs the session, on behalf of one runtime.
#[derive(Debug, Clone)]
pub(super) struct Caller {
    pub(super) runtime: Option<String>,
    pub(super) calls: Calls,
    pub(super) output: Output,
    pub(super) open: Open,
}

/// The line that asks about a call.
#[derive(Serialize)]
struct Event<'a, D> {
    event: &'static str,
    request: u64,
    #[serde(flatten)]
    server: &'a McpServerKey,
    tool: &'a ToolName,
    #[serde(skip_serializing_if = "Option::is_none")]
    call: Option<Box<RawValue>>,
    #[serde(flatten)]
    details: D,
    #[serde(skip_serializing_if = "Option::is_none")]
    runtime: Option<&'a str>,
}

impl Caller {
    /// The request of the session that a call belongs to.
    pub(super) fn request(&self, call: CallId) -> Option<Box<RawValue>> {
        let request = self.calls.request(call)?;
        RawValue::from_string(request).ok()
    }

    /// Asks about a call; `details` is what the event says beside whose it is.
    pub(super) async fn ask<A>(
        &self,
        event: &'static str,
        call: &Invocation,
        details: impl Serialize,
        questions: &Arc<Questions<A>>,
    ) -> Option<A> {
        let question: Question<A> = questions.open();
        let line = Event {
            event,
            request: question.number(),
            server: call.server(),
            tool: call.key().tool(),
            call: self.request(call.id()),
            details,
            runtime: self.runtime.as_deref(),
        };
        self.output.line(&line).await;
        question.answered().await
    }
}
