//! The elicitations of one connection, from the server's request to its answer (E1).
//!
//! Each runs in a task of its own and ends in one of these ways: the host's handler answers or panics, the
//! interaction takes too long, the call it belongs to is given up, the server withdraws its request, the connection ends. In
//! the last two nobody waits for an answer, and there is none.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::FutureExt;
use mcp_keys::McpServerKey;
use serde_json::value::RawValue;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::calls::{Calls, Pause};
use super::server_request::{Refusal, Replies};
use crate::authority::CurrentPermissions;
use crate::call::CallId;
use crate::elicitation::{Elicitation, ElicitationAnswer, ElicitationMode, Elicitor};
use crate::permissions::{ElicitationPolicy, Permissions};

/// Elicitations of one server that may be open. A person does not answer more at once.
const OPEN: usize = 64;

/// What it takes to ask a person on behalf of one server.
#[derive(Debug, Clone)]
pub(crate) struct Interaction {
    pub(crate) elicitor: Option<Elicitor>,
    /// How long a person may take, and how long a clock stands still for it.
    pub(crate) patience: Duration,
    pub(crate) calls: Arc<Calls>,
    /// For what is asked on behalf of no call.
    pub(crate) permissions: CurrentPermissions,
}

impl Interaction {
    /// The permissions under which something is asked on behalf of a call, or of none that can be told (E1).
    pub(crate) fn permissions(&self, call: Option<CallId>) -> Permissions {
        let captured = call.and_then(|call| self.calls.permissions(call));
        captured.unwrap_or_else(|| self.permissions.now())
    }

    /// Who is asked under these permissions; `None` when nobody is.
    pub(crate) fn elicitor(&self, permissions: &Permissions) -> Option<&Elicitor> {
        let elicitor = self.elicitor.as_ref();
        elicitor.filter(|_| permissions.elicitation() == ElicitationPolicy::Ask)
    }
}

/// Asks a person what one server wants to know.
#[derive(Debug)]
pub(crate) struct Elicitations {
    server: McpServerKey,
    interaction: Interaction,
    replies: Replies,
    closed: CancellationToken,
    open: Arc<Open>,
}

/// The open elicitations, by the JSON text of the server's ids.
#[derive(Debug, Default)]
struct Open(Mutex<HashMap<String, CancellationToken>>);

/// A place among the open ones; dropping it frees it.
#[derive(Debug)]
struct Place {
    id: Box<RawValue>,
    withdrawn: CancellationToken,
    open: Arc<Open>,
}

/// An elicitation that is being asked.
struct Asked {
    place: Place,
    pause: Pause,
    elicitor: Elicitor,
    patience: Duration,
    replies: Replies,
    closed: CancellationToken,
}

impl Elicitations {
    /// `closed` is when the connection is over.
    pub(crate) fn new(
        server: McpServerKey,
        interaction: Interaction,
        replies: Replies,
        closed: CancellationToken,
    ) -> Self {
        Self {
            server,
            interaction,
            replies,
            closed,
            open: Arc::default(),
        }
    }

    /// Answers an elicitation, now or when a person has.
    pub(crate) fn ask(&self, id: &RawValue, params: Option<&RawValue>, call: Option<CallId>) {
        if let Err(refusal) = self.try_ask(id, params, call) {
            self.replies.refuse(id, &refusal);
        }
    }

    fn try_ask(
        &self,
        id: &RawValue,
        params: Option<&RawValue>,
        call: Option<CallId>,
    ) -> Result<(), Refusal> {
        let elicitation = Elicitation::read(&self.server, call, params);
        let elicitation = elicitation
            .map_err(|unfit| Refusal::new(Refusal::INVALID_PARAMS, unfit.to_string()))?;
        let Interaction {
            patience, calls, ..
        } = &self.interaction;
        let permissions = self.interaction.permissions(call);
        let Some(elicitor) = self.interaction.elicitor(&permissions) else {
            let declined = ElicitationAnswer::decline();
            self.replies.result(id, &declined.result(false));
            return Ok(());
        };
        let asked = Asked {
            place: self.open.enter(id)?,
            // The clock stops here and not when the task gets its turn.
            pause: calls.pause(call, *patience),
            elicitor: elicitor.clone(),
            patience: *patience,
            replies: self.replies.clone(),
            closed: self.closed.clone(),
        };
        tokio::spawn(asked.answer(elicitation.under(permissions)));
        Ok(())
    }

    /// The server no longer waits for the answer to this request.
    pub(crate) fn withdraw(&self, id: &RawValue) {
        if let Some(withdrawn) = self.open.open().get(id.get()) {
            withdrawn.cancel();
        }
    }
}

impl Asked {
    async fn answer(self, elicitation: Elicitation) {
        let form = matches!(elicitation.mode(), ElicitationMode::Form { .. });
        let server = elicitation.server().clone();
        let Self {
            place,
            pause,
            elicitor,
            patience,
            replies,
            closed,
        } = self;
        let asking = AssertUnwindSafe(async { elicitor.0.elicit(elicitation).await });
        let answer = tokio::select! {
            biased;
            () = closed.cancelled() => return,
            () = place.withdrawn.cancelled() => return,
            () = pause.given_up() => Ok(ElicitationAnswer::cancel()),
            answered = timeout(patience, asking.catch_unwind()) => match answered {
                Ok(answered) => answered,
                Err(_too_late) => Ok(ElicitationAnswer::cancel()),
            },
        };
        // The server may use the id again as soon as it is answered.
        let id = place.free();
        match answer {
            Ok(answer) => replies.result(&id, &answer.result(form)),
            Err(_panic) => {
                tracing::error!(%server, "the host's handler of elicitations panicked");
                let refusal = Refusal::new(Refusal::INTERNAL_ERROR, "asking has failed");
                replies.refuse(&id, &refusal);
            }
        }
        drop(pause);
    }
}

impl Open {
    fn enter(self: &Arc<Self>, id: &RawValue) -> Result<Place, Refusal> {
        let withdrawn = CancellationToken::new();
        let mut open = self.open();
        if open.len() >= OPEN {
            let message = "too many elicitations are open";
            return Err(Refusal::new(Refusal::INTERNAL_ERROR, message));
        }
        match open.entry(id.get().to_owned()) {
            Entry::Vacant(free) => free.insert(withdrawn.clone()),
            Entry::Occupied(_) => {
                let message = "the id is that of an open request";
                return Err(Refusal::new(Refusal::INVALID_REQUEST, message));
            }
        };
        Ok(Place {
            id: id.to_owned(),
            withdrawn,
            open: self.clone(),
        })
    }

    fn open(&self) -> MutexGuard<'_, HashMap<String, CancellationToken>> {
        // Every map operation is complete or has not begun.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place {
    fn free(self) -> Box<RawValue> {
        self.id.clone()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.open.open().remove(self.id.get());
    }
}

#[cfg(test)]
mod tests;
