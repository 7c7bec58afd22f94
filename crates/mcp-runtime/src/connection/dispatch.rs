//! Hands each message of a server to where it belongs, whichever stream it came on (W1, R7).

use std::sync::Arc;

use mcp_keys::McpServerKey;
use serde_json::value::RawValue;

use super::codec::{self, Inbound, Malformed, Reply, Unreadable};
use super::notice::Notices;
use super::pending::{Answer, Pending};
use super::server_request::Inlet;
use crate::call::CallId;
use crate::object::Object;

/// The inbound side of one connection. Nothing here waits, so no message keeps another from its caller.
#[derive(Debug)]
pub(crate) struct Dispatch {
    key: McpServerKey,
    pending: Arc<Pending>,
    notices: Notices,
    inlet: Inlet,
}

impl Dispatch {
    pub(crate) fn new(
        key: McpServerKey,
        pending: Arc<Pending>,
        notices: Notices,
        inlet: Inlet,
    ) -> Self {
        Self {
            key,
            pending,
            notices,
            inlet,
        }
    }

    /// Handles one message, or several in an array. `own` is the request on whose stream it came, where it has one of
    /// its own: a failure for nobody on that stream is its failure.
    ///
    /// # Errors
    ///
    /// The bytes are no message, and answer nobody. One that can be attributed has failed its request instead (R9).
    pub(crate) fn message(&self, bytes: &[u8], own: Option<u64>) -> Result<(), Unreadable> {
        if bytes.trim_ascii_start().starts_with(b"[")
            && let Ok(batch) = serde_json::from_slice::<Vec<&RawValue>>(bytes)
        {
            // One that cannot be read costs nobody else anything.
            let mut read = Ok(());
            for message in batch {
                read = read.and(self.one(message.get().as_bytes(), own));
            }
            return read;
        }
        self.one(bytes, own)
    }

    fn one(&self, bytes: &[u8], own: Option<u64>) -> Result<(), Unreadable> {
        match codec::decode(bytes) {
            Ok(Inbound::Reply { id, reply }) => self.reply(id, reply),
            Ok(Inbound::Stray(reply)) => match (own, reply) {
                (Some(own), reply @ (Reply::Error(_) | Reply::Malformed(_))) => {
                    self.reply(own, reply);
                }
                _ => tracing::debug!(server = %self.key, "an answer to no request of ours"),
            },
            Ok(Inbound::Call {
                is_request: true,
                method,
                ..
            }) => {
                if !self.is_echo(bytes, &method) {
                    self.inlet.request(bytes, &method, self.origin(own));
                }
            }
            Ok(Inbound::Call {
                is_request: false,
                method,
                params,
            }) => {
                self.inlet.notification(&method, params);
                let pending = &self.pending;
                self.notices
                    .receive(&method, params, |token| pending.call(codec::own_id(token)?));
            }
            Err(unreadable) if !self.broken(unreadable.id, Malformed::NotJson) => {
                return Err(unreadable);
            }
            Err(_) => {}
        }
        Ok(())
    }

    /// Whether a request is one of ours, sent back; it has failed then.
    fn is_echo(&self, request: &[u8], method: &str) -> bool {
        const ASKED_BY_CLIENTS: [&str; 4] =
            ["initialize", "server/discover", "tools/list", "tools/call"];
        if !ASKED_BY_CLIENTS.contains(&method) {
            return false;
        }
        let request = serde_json::from_slice::<&RawValue>(request);
        let id = request.ok().and_then(|request| {
            let id = Object::of(request).get("id")?;
            codec::own_id(id)
        });
        self.broken(id, Malformed::Echo)
    }

    /// The call on whose behalf the server asks something (E1): that on whose stream it asks, or the only one there is.
    fn origin(&self, own: Option<u64>) -> Option<CallId> {
        match own {
            Some(own) => self.pending.call(own),
            None => self.pending.only_call(),
        }
    }

    /// What the server offers may have changed without a word.
    pub(crate) fn owe_refresh(&self) {
        self.notices.owe_refresh();
    }

    /// Hands an answer to the request with this id.
    pub(crate) fn reply(&self, id: u64, reply: Reply<'_>) {
        if !self.pending.answer(id, reply.into()) {
            tracing::debug!(server = %self.key, id, "an answer nobody waits for");
        }
    }

    /// Fails the request that a broken message answers; `false` when there is none (R9).
    pub(crate) fn broken(&self, id: Option<u64>, why: Malformed) -> bool {
        id.is_some_and(|id| self.pending.answer(id, Answer::Malformed(why)))
    }
}

impl From<Reply<'_>> for Answer {
    fn from(reply: Reply<'_>) -> Self {
        match reply {
            Reply::Result(result) => Self::Result(result.to_owned()),
            Reply::Error(error) => Self::Error(error),
            Reply::Malformed(why) => Self::Malformed(why),
        }
    }
}
