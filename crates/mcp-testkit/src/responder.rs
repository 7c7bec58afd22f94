//! A request of the client that waits for its answer.

use std::panic::Location;
use std::time::Duration;

use serde_json::{Value, json};

use crate::failure::fail_on_drop;
use crate::message::Message;
use crate::outbox::Outbox;

/// One demanded request. Answers may be given in any order, and by several responders at once.
///
/// # Panics
///
/// Dropping a responder that gave no answer fails the test: say [`leave_unanswered`](Self::leave_unanswered) when silence is
/// what the test is about. Each answer fails the test when the client does not take it within the deadline.
#[derive(Debug)]
#[must_use = "a request needs an answer"]
pub struct Responder {
    request: Message,
    outbox: Outbox,
    deadline: Duration,
    at: &'static Location<'static>,
    settled: bool,
}

impl Responder {
    pub(crate) fn new(
        request: Message,
        outbox: Outbox,
        deadline: Duration,
        at: &'static Location<'static>,
    ) -> Self {
        Self {
            request,
            outbox,
            deadline,
            at,
            settled: false,
        }
    }

    /// The request's method.
    #[must_use]
    pub fn method(&self) -> &str {
        self.request.method().unwrap_or_default()
    }

    /// The request's id, as the client sent it.
    #[must_use]
    pub fn id(&self) -> &Value {
        self.request.id().unwrap_or(&Value::Null)
    }

    /// The request's parameters; `null` when it has none.
    #[must_use]
    pub fn params(&self) -> &Value {
        self.request.params()
    }

    /// The request's line as the client wrote it, without the line end: for what a JSON value cannot show, such as the
    /// spelling of a number or the order of members.
    #[must_use]
    pub fn raw(&self) -> &[u8] {
        self.request.raw()
    }

    /// Answers with a result.
    pub async fn result(self, result: Value) {
        self.result_raw(&result.to_string()).await;
    }

    /// Answers with a result written exactly as given: any text, JSON or not.
    pub async fn result_raw(self, result: &str) {
        self.answer("result", result).await;
    }

    /// Answers with an error; `data` is left out when `null`.
    pub async fn error(self, code: i64, message: &str, data: Value) {
        let mut error = json!({"code": code, "message": message});
        if !data.is_null() {
            error["data"] = data;
        }
        self.error_raw(&error.to_string()).await;
    }

    /// Answers with an error written exactly as given, such as one whose code is a string.
    pub async fn error_raw(self, error: &str) {
        self.answer("error", error).await;
    }

    /// Gives no answer, which is what the test is about.
    pub fn leave_unanswered(mut self) {
        self.settled = true;
    }

    async fn answer(mut self, member: &str, text: &str) {
        self.settled = true;
        let line = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{},\"{member}\":{text}}}\n",
            self.id()
        );
        self.outbox
            .send(line.as_bytes(), self.deadline, self.at)
            .await;
    }
}

impl Drop for Responder {
    fn drop(&mut self) {
        if !self.settled {
            fail_on_drop(
                self.at,
                format_args!(
                    "a responder was dropped without an answer to {}; answer it, or call `leave_unanswered`",
                    self.request
                ),
            );
        }
    }
}
