//! Requests that wait for an answer.
//!
//! Invariants: an entry leaves the table exactly once (answered, given up by its `Waiting`, or failed by `close`), so a
//! request has exactly one outcome; after `close` nothing is registered. The lock is held for one map operation, but
//! for `close`, which takes the map out and fails the entries outside of it.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::value::RawValue;
use tokio::sync::oneshot;

use super::codec::{Malformed, RpcError};
use super::disconnect::Disconnect;
use crate::call::CallId;

/// The answer handed to the one who waits.
#[derive(Debug)]
pub(crate) enum Answer {
    Result(Box<RawValue>),
    Error(RpcError),
    Malformed(Malformed),
    Closed(Arc<Disconnect>),
}

/// The table of one connection.
#[derive(Debug)]
pub(crate) struct Pending {
    state: Mutex<State>,
    next_id: AtomicU64,
}

#[derive(Debug)]
enum State {
    Open(HashMap<u64, Entry>),
    Closed(Arc<Disconnect>),
}

#[derive(Debug)]
struct Entry {
    answer: oneshot::Sender<Answer>,
    call: Option<CallId>,
}

/// A place in the table; dropping it gives the request up.
#[derive(Debug)]
pub(crate) struct Waiting {
    id: u64,
    answer: oneshot::Receiver<Answer>,
    table: Arc<Pending>,
}

impl Pending {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::new(State::Open(HashMap::new())),
            next_id: AtomicU64::new(1),
        })
    }

    /// Reserves an id and a place for its answer.
    pub(crate) fn register(
        self: &Arc<Self>,
        call: Option<CallId>,
    ) -> Result<Waiting, Arc<Disconnect>> {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let (sender, answer) = oneshot::channel();
        match &mut *self.state() {
            State::Closed(why) => return Err(why.clone()),
            State::Open(entries) => entries.insert(
                id,
                Entry {
                    answer: sender,
                    call,
                },
            ),
        };
        Ok(Waiting {
            id,
            answer,
            table: self.clone(),
        })
    }

    /// Hands an answer to the request with this id; `false` when nobody waits for it.
    pub(crate) fn answer(&self, id: u64, answer: Answer) -> bool {
        // The lock is gone before the receiver is woken.
        let entry = self.remove(id);
        entry.is_some_and(|entry| entry.answer.send(answer).is_ok())
    }

    /// The call that waits under this id, if it is one of the host's.
    pub(crate) fn call(&self, id: u64) -> Option<CallId> {
        match &*self.state() {
            State::Open(entries) => entries.get(&id)?.call,
            State::Closed(_) => None,
        }
    }

    /// The call that waits, where it is the only one.
    pub(crate) fn only_call(&self) -> Option<CallId> {
        match &*self.state() {
            State::Open(entries) => {
                let mut calls = entries.values().filter_map(|entry| entry.call);
                let first = calls.next()?;
                calls.next().is_none().then_some(first)
            }
            State::Closed(_) => None,
        }
    }

    /// Whether the request with this id is still unanswered.
    pub(crate) fn waits(&self, id: u64) -> bool {
        match &*self.state() {
            State::Open(entries) => entries.contains_key(&id),
            State::Closed(_) => false,
        }
    }

    /// Fails everything that waits and refuses what comes. The first reason stays.
    pub(crate) fn close(&self, why: &Arc<Disconnect>) {
        let entries = {
            let mut state = self.state();
            match &mut *state {
                State::Closed(_) => return,
                State::Open(entries) => {
                    let entries = std::mem::take(entries);
                    *state = State::Closed(why.clone());
                    entries
                }
            }
        };
        for entry in entries.into_values() {
            // A caller that has just given up does not miss it.
            let _ = entry.answer.send(Answer::Closed(why.clone()));
        }
    }

    /// Why the table is closed, if it is.
    pub(crate) fn closed(&self) -> Option<Arc<Disconnect>> {
        match &*self.state() {
            State::Open(_) => None,
            State::Closed(why) => Some(why.clone()),
        }
    }

    fn remove(&self, id: u64) -> Option<Entry> {
        match &mut *self.state() {
            State::Open(entries) => entries.remove(&id),
            State::Closed(_) => None,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Every map operation is complete or has not begun, so a panic elsewhere does not spoil the table.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waiting {
    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    /// Waits for the answer. Cancel-safe.
    pub(crate) async fn answer(&mut self) -> Answer {
        match (&mut self.answer).await {
            Ok(answer) => answer,
            // The sender lives in the table until it is used, so this is a table that was dropped whole.
            Err(_) => Answer::Closed(
                self.table
                    .closed()
                    .unwrap_or_else(|| Arc::new(Disconnect::local())),
            ),
        }
    }

    /// Whether the request is still unanswered.
    pub(crate) fn is_open(&self) -> bool {
        self.table.waits(self.id)
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        drop(self.table.remove(self.id));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result() -> Answer {
        Answer::Result(RawValue::from_string("{}".to_owned()).unwrap())
    }

    #[tokio::test(flavor = "current_thread", start_paused = true)]
    async fn the_first_answer_wins_and_the_second_finds_nobody() {
        let pending = Pending::new();
        let mut waiting = pending.register(None).unwrap();
        assert!(pending.answer(waiting.id(), result()));
        assert!(!pending.answer(waiting.id(), result()));
        assert!(matches!(waiting.answer().await, Answer::Result(_)));
    }

    /// B4
    #[tokio::test(flavor = "current_thread", start_paused = true)]
    async fn a_dropped_request_leaves_nothing_behind() {
        let pending = Pending::new();
        let id = pending.register(None).unwrap().id();
        assert!(!pending.answer(id, result()), "a late answer is ignored");
    }

    /// E1
    #[tokio::test(flavor = "current_thread", start_paused = true)]
    async fn a_call_is_the_only_one_while_no_other_waits() {
        let pending = Pending::new();
        assert_eq!(pending.only_call(), None);
        let _listing = pending.register(None).unwrap();
        let call = CallId::next();
        let waiting = pending.register(Some(call)).unwrap();
        assert_eq!(pending.only_call(), Some(call), "a listing is no call");
        let other = pending.register(Some(CallId::next())).unwrap();
        assert_eq!(pending.only_call(), None);
        drop(other);
        assert_eq!(pending.only_call(), Some(call));
        pending.answer(waiting.id(), result());
        assert_eq!(pending.only_call(), None);
    }

    /// R10
    #[tokio::test(flavor = "current_thread", start_paused = true)]
    async fn closing_fails_what_waits_and_what_comes() {
        let pending = Pending::new();
        let mut waiting = pending.register(None).unwrap();
        pending.close(&Arc::new(Disconnect::local()));
        assert!(matches!(waiting.answer().await, Answer::Closed(_)));
        assert!(pending.register(None).is_err());
    }
}
