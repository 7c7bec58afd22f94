//! What a server asks of us, read from the message as it came and answered as it is read.
//!
//! Nothing here waits: a ping is answered though thousands of other requests came before it. Only an elicitation takes
//! time, in a task of its own.

use std::sync::Arc;

use mcp_keys::McpServerKey;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tokio_util::sync::CancellationToken;

use super::codec;
use super::elicitations::{Elicitations, Interaction};
use super::outbox::Outbox;
use crate::call::CallId;

/// Answers the requests of one server.
#[derive(Debug)]
pub(crate) struct Inlet {
    replies: Replies,
    elicitations: Elicitations,
}

/// Why a request is not answered with a result: a code of JSON-RPC, and a word to the author of the server.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) code: i64,
    pub(crate) message: String,
}

impl Refusal {
    pub(crate) const INVALID_REQUEST: i64 = -32_600;
    pub(crate) const METHOD_NOT_FOUND: i64 = -32_601;
    pub(crate) const INVALID_PARAMS: i64 = -32_602;
    pub(crate) const INTERNAL_ERROR: i64 = -32_603;

    pub(crate) fn new(code: i64, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { code, message }
    }
}

impl Inlet {
    /// `closed` is when the connection is over.
    pub(crate) fn new(
        server: &McpServerKey,
        interaction: Interaction,
        outbox: &Arc<Outbox>,
        closed: &CancellationToken,
    ) -> Self {
        let replies = Replies(outbox.clone());
        let (server, closed) = (server.clone(), closed.clone());
        Self {
            elicitations: Elicitations::new(server, interaction, replies.clone(), closed),
            replies,
        }
    }

    /// Answers a request, or sees to it that it will be. `origin` is the call on whose behalf it was made, where that
    /// can be told.
    pub(crate) fn request(&self, line: &[u8], method: &str, origin: Option<CallId>) {
        #[derive(Deserialize)]
        struct Request<'a> {
            #[serde(borrow)]
            id: &'a RawValue,
            #[serde(borrow, default)]
            params: Option<&'a RawValue>,
        }
        // Without a usable id there is nobody to answer; an error with id null would only confuse the server.
        let request = serde_json::from_slice::<Request<'_>>(line);
        let Some(Request { id, params }) = request.ok().filter(|request| is_id(request.id)) else {
            tracing::debug!(method, "a request without a usable id");
            return;
        };
        match method {
            "ping" => self.replies.result(id, &Pong {}),
            "elicitation/create" => self.elicitations.ask(id, params, origin),
            // Neither roots nor sampling were declared.
            _ => {
                let refusal = Refusal::new(
                    Refusal::METHOD_NOT_FOUND,
                    "the client does not support this method",
                );
                self.replies.refuse(id, &refusal);
            }
        }
    }

    /// Sees whether a notification says that the server no longer waits for an answer.
    pub(crate) fn notification(&self, method: &str, params: Option<&RawValue>) {
        #[derive(Deserialize)]
        struct Cancelled<'a> {
            #[serde(borrow, rename = "requestId")]
            id: &'a RawValue,
        }
        if method == "notifications/cancelled"
            && let Some(params) = params.filter(|params| params.get().starts_with('{'))
            && let Ok(Cancelled { id }) = serde_json::from_str(params.get())
        {
            self.elicitations.withdraw(id);
        }
    }
}

/// The answer to a ping.
#[derive(Serialize)]
struct Pong {}

/// A text or a number, as the protocol has it.
fn is_id(id: &RawValue) -> bool {
    let first = id.get().as_bytes().first();
    first.is_some_and(|first| matches!(first, b'"' | b'-' | b'0'..=b'9'))
}

/// The way of answers to the server.
#[derive(Debug, Clone)]
pub(crate) struct Replies(Arc<Outbox>);

impl Replies {
    pub(crate) fn result(&self, id: &RawValue, result: &impl Serialize) {
        #[derive(Serialize)]
        struct Answered<'a, T> {
            jsonrpc: &'static str,
            id: &'a RawValue,
            result: &'a T,
        }
        let jsonrpc = "2.0";
        self.push(&Answered {
            jsonrpc,
            id,
            result,
        });
    }

    pub(crate) fn refuse(&self, id: &RawValue, refusal: &Refusal) {
        #[derive(Serialize)]
        struct Refused<'a> {
            jsonrpc: &'static str,
            id: &'a RawValue,
            error: Problem<'a>,
        }
        #[derive(Serialize)]
        struct Problem<'a> {
            code: i64,
            message: &'a str,
        }
        let Refusal { code, message } = refusal;
        tracing::debug!(code, message, "a request of the server is refused");
        let (jsonrpc, code) = ("2.0", *code);
        let error = Problem { code, message };
        self.push(&Refused { jsonrpc, id, error });
    }

    fn push(&self, answer: &impl Serialize) {
        match codec::encode(answer) {
            // Refused only on a closed connection, or by a server that has not read for long: nobody is there to tell.
            Ok(line) => drop(self.0.push_owed(line)),
            Err(error) => tracing::warn!(%error, "an answer that cannot be written"),
        }
    }
}

#[cfg(test)]
mod tests;
