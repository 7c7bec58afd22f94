//! Elicitations that wait for whoever runs the session.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mcp_runtime::{
    Elicitation, ElicitationAnswer, ElicitationHandler, ElicitationMode, HandlerFuture,
    McpServerKey,
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tokio::sync::oneshot;

use super::calls::Calls;
use super::lines::Output;
use crate::report::ErrorReport;

/// The open elicitations of a session, of all its runtimes.
#[derive(Debug, Default)]
pub(super) struct Elicitations {
    open: Mutex<HashMap<u64, oneshot::Sender<ElicitationAnswer>>>,
    last: AtomicU64,
}

/// Asks whoever runs the session, on behalf of one runtime.
pub(super) struct Caller {
    pub(super) runtime: Option<String>,
    pub(super) calls: Calls,
    pub(super) output: Output,
    pub(super) elicitations: Arc<Elicitations>,
}

/// `elicit_reply`.
#[derive(Debug, Deserialize)]
pub(super) struct Reply {
    elicitation: u64,
    action: Action,
    content: Option<Box<RawValue>>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Action {
    Accept,
    Decline,
    Cancel,
}

/// An elicitation that waits; dropping it closes it.
struct Waiting {
    id: u64,
    answer: oneshot::Receiver<ElicitationAnswer>,
    elicitations: Arc<Elicitations>,
}

impl Elicitations {
    fn open_one(self: &Arc<Self>) -> Waiting {
        let id = self.last.fetch_add(1, Ordering::Relaxed) + 1;
        let (sender, answer) = oneshot::channel();
        self.open().insert(id, sender);
        Waiting {
            id,
            answer,
            elicitations: self.clone(),
        }
    }

    /// Answers one of them. A reply that is wrong leaves it open.
    pub(super) fn reply(&self, reply: Reply) -> Result<(), ErrorReport> {
        let id = reply.elicitation;
        let not_open = || ErrorReport::invalid(format!("elicitation {id} is not open"));
        let mut open = self.open();
        if !open.contains_key(&id) {
            return Err(not_open());
        }
        let answer = match (reply.action, reply.content) {
            (Action::Accept, Some(content)) => ElicitationAnswer::accept_with(content)
                .map_err(|error| ErrorReport::invalid_because(&error))?,
            (Action::Accept, None) => ElicitationAnswer::accept(),
            (Action::Decline, _) => ElicitationAnswer::decline(),
            (Action::Cancel, _) => ElicitationAnswer::cancel(),
        };
        let waiting = open.remove(&id);
        drop(open);
        let answered = waiting.is_some_and(|waiting| waiting.send(answer).is_ok());
        answered.then_some(()).ok_or_else(not_open)
    }

    fn open(&self) -> MutexGuard<'_, HashMap<u64, oneshot::Sender<ElicitationAnswer>>> {
        // Every map operation is complete or has not begun.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.elicitations.open().remove(&self.id);
    }
}

/// The line that asks.
#[derive(Serialize)]
struct Event<'a> {
    event: &'static str,
    elicitation: u64,
    #[serde(flatten)]
    server: &'a McpServerKey,
    #[serde(skip_serializing_if = "Option::is_none")]
    call: Option<Box<RawValue>>,
    permissions: &'static str,
    message: &'a str,
    #[serde(flatten)]
    mode: Mode<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    runtime: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(tag = "mode", rename_all = "snake_case")]
enum Mode<'a> {
    Form { schema: &'a RawValue },
    Url { url: &'a str },
}

impl ElicitationHandler for Caller {
    fn elicit(&self, elicitation: Elicitation) -> HandlerFuture<'_, ElicitationAnswer> {
        Box::pin(self.ask(elicitation))
    }
}

impl Caller {
    async fn ask(&self, elicitation: Elicitation) -> ElicitationAnswer {
        let mode = match elicitation.mode() {
            ElicitationMode::Form { schema } => Mode::Form { schema },
            ElicitationMode::Url { url, .. } => Mode::Url { url: url.as_str() },
            // A way of asking that this program does not know yet.
            _ => return ElicitationAnswer::decline(),
        };
        let mut waiting = self.elicitations.open_one();
        let request = elicitation.call().and_then(|call| self.calls.request(call));
        let event = Event {
            event: "elicitation",
            elicitation: waiting.id,
            server: elicitation.server(),
            call: request.and_then(|id| RawValue::from_string(id).ok()),
            permissions: "ask",
            message: elicitation.message(),
            mode,
            runtime: self.runtime.as_deref(),
        };
        self.output.line(&event).await;
        // A sender is dropped only by its answer.
        (&mut waiting.answer)
            .await
            .unwrap_or_else(|_| ElicitationAnswer::cancel())
    }
}
