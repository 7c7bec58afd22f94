//! A request that was sent and not yet answered.

use std::sync::Arc;

use serde::Serialize;
use serde_json::value::RawValue;

use super::codec;
use super::outbox::Outbox;
use super::pending::{Answer, Waiting};
use super::request::{RequestError, RequestErrorKind};

/// A request that was sent. Dropping it before its answer came tells the server so (B4).
#[derive(Debug)]
pub(crate) struct InFlight {
    method: &'static str,
    waiting: Waiting,
    /// Where to say that nobody waits any more; `None` where the server sees that by itself.
    outbox: Option<Arc<Outbox>>,
}

#[derive(Serialize)]
struct Cancelled {
    #[serde(rename = "requestId")]
    request_id: u64,
    reason: &'static str,
}

impl InFlight {
    pub(crate) fn new(method: &'static str, waiting: Waiting, outbox: Option<Arc<Outbox>>) -> Self {
        // `initialize` is never cancelled, says the protocol.
        let outbox = outbox.filter(|_| method != "initialize");
        Self {
            method,
            waiting,
            outbox,
        }
    }

    pub(crate) fn id(&self) -> u64 {
        self.waiting.id()
    }

    /// The server does not have the request, so there is nothing to tell it.
    pub(crate) fn forget(&mut self) {
        self.outbox = None;
    }

    /// Waits for the result. Cancel-safe.
    pub(crate) async fn result(&mut self) -> Result<Box<RawValue>, RequestError> {
        let kind = match self.waiting.answer().await {
            Answer::Result(result) => return Ok(result),
            Answer::Error(error) => error.into(),
            Answer::Malformed(why) => why.into(),
            Answer::Closed(why) => RequestErrorKind::Closed(why),
        };
        Err(RequestError::new(self.method, kind))
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        let Some(outbox) = self.outbox.as_ref().filter(|_| self.waiting.is_open()) else {
            return;
        };
        let params = Cancelled {
            request_id: self.waiting.id(),
            reason: "the caller no longer waits",
        };
        let line = codec::encode_notification("notifications/cancelled", Some(params));
        // Refused only on a closed connection, or to a server that has not read for long: nobody is there to tell.
        let _ = line.map(|line| outbox.push_owed(line));
    }
}
