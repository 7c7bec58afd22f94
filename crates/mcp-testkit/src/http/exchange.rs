//! A request over HTTP that waits for its answer.

use std::panic::Location;
use std::time::Duration;

use serde_json::{Value, json};

use super::connection::Arrival;
use super::held::{EventStream, HeldConnection};
use super::request::HttpRequest;
use super::response::HttpResponse;
use super::wire::Wire;
use crate::failure::fail_on_drop;

/// One demanded request. After a complete answer the connection waits for the client's next request.
///
/// # Panics
///
/// Dropping an exchange that was not answered fails the test: say [`hang`](Self::hang) or [`close`](Self::close) when that
/// is what the test is about. Each answer fails the test when the client has gone.
#[derive(Debug)]
#[must_use = "a request needs an answer"]
pub struct Exchange {
    request: HttpRequest,
    /// Taken by the answer.
    wire: Option<Wire>,
    at: &'static Location<'static>,
}

impl Exchange {
    pub(super) fn new(
        arrival: Arrival,
        deadline: Duration,
        at: &'static Location<'static>,
    ) -> Self {
        let Arrival {
            request,
            connection,
            give_back,
        } = arrival;
        Self {
            request,
            wire: Some(Wire {
                connection,
                give_back,
                deadline,
                forgives: false,
                at,
            }),
            at,
        }
    }

    /// Demands neither an answer nor a client that waits for one: whatever is written to one that is gone is written to
    /// nobody.
    pub fn forgiving(mut self) -> Self {
        if let Some(wire) = &mut self.wire {
            wire.forgives = true;
        }
        self
    }

    /// `POST`, `GET` or `DELETE`.
    #[must_use]
    pub fn verb(&self) -> &str {
        self.request.verb()
    }

    /// The path and query, as the client wrote them.
    #[must_use]
    pub fn path(&self) -> &str {
        self.request.path()
    }

    /// The first header with this name, in any case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.request.header(name)
    }

    /// Every header, in order and as the client wrote it.
    #[must_use]
    pub fn headers(&self) -> &[(String, String)] {
        self.request.headers()
    }

    /// The body.
    #[must_use]
    pub fn body(&self) -> &[u8] {
        self.request.message().raw()
    }

    /// The body as JSON; `null` when it is none.
    #[must_use]
    pub fn message(&self) -> &Value {
        self.request.message().value()
    }

    /// The id of the JSON-RPC message; `null` when it has none.
    #[must_use]
    pub fn id(&self) -> &Value {
        self.request.message().id().unwrap_or(&Value::Null)
    }

    /// The parameters of the JSON-RPC message; `null` when it has none.
    #[must_use]
    pub fn params(&self) -> &Value {
        self.request.message().params()
    }

    /// Answers with a whole response.
    pub async fn respond(mut self, response: HttpResponse) {
        let mut wire = self.take_wire();
        wire.write(&response.to_bytes()).await;
        wire.give_back();
    }

    /// Answers 202, as a notification or a response wants.
    pub async fn accept(self) {
        self.respond(HttpResponse::new(202)).await;
    }

    /// Answers 200 with a JSON-RPC result as JSON.
    pub async fn result(self, result: Value) {
        self.result_raw(&result.to_string()).await;
    }

    /// Answers 200 with a JSON-RPC result written exactly as given: any text, JSON or not.
    pub async fn result_raw(self, result: &str) {
        let body = self.envelope("result", result);
        self.respond(HttpResponse::new(200).body("application/json", body))
            .await;
    }

    /// Answers 200 with a JSON-RPC error as JSON; `data` is left out when `null`.
    pub async fn error(self, code: i64, message: &str, data: Value) {
        let mut error = json!({"code": code, "message": message});
        if !data.is_null() {
            error["data"] = data;
        }
        let body = self.envelope("error", &error.to_string());
        self.respond(HttpResponse::new(200).body("application/json", body))
            .await;
    }

    /// Answers with the head of a response and leaves its body to be sent in pieces. Without a content type it is a
    /// stream of events.
    pub async fn stream(mut self, head: HttpResponse) -> EventStream {
        let mut wire = self.take_wire();
        wire.write(&head.to_stream_head()).await;
        EventStream { wire }
    }

    /// Answers nothing and keeps the connection open, as long as what this returns is held.
    pub fn hang(mut self) -> HeldConnection {
        HeldConnection {
            wire: self.take_wire(),
        }
    }

    /// Answers nothing and closes the connection.
    pub fn close(mut self) {
        drop(self.take_wire());
    }

    /// A JSON-RPC answer to this request, with the member `result` or `error` as given.
    pub(super) fn envelope(&self, member: &str, text: &str) -> String {
        format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{},\"{member}\":{text}}}",
            self.id()
        )
    }

    fn take_wire(&mut self) -> Wire {
        self.wire
            .take()
            .expect("each answer consumes the exchange, so it is the first to take the wire")
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        if self.wire.as_ref().is_some_and(|wire| !wire.forgives) {
            fail_on_drop(
                self.at,
                format_args!(
                    "an exchange was dropped without an answer to {}; answer it, or call `hang` or `close`",
                    self.request
                ),
            );
        }
    }
}
