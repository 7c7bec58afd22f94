//! What is to be written to a server that may not be reading (R9).
//!
//! Pushing never waits: a stuck child can hold the writer, but not a caller, its deadline or its cancellation.
//! Requests are refused once the bytes waiting exceed the limit; what the protocol owes the peer (cancellations,
//! answers) is refused only far beyond it, so that a burst of dropped calls loses no cancellation.
//!
//! Invariants: `bytes` is the sum of what the queued messages cost; after `close` nothing is queued; the lock is held for a push
//! or a pop.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// What a message costs beside its bytes; without it a flood of small ones would take many times the limit.
const OVERHEAD: usize = 128;
/// Bytes that may wait before requests are refused.
const REQUEST_LIMIT: usize = 32 * 1024 * 1024;
/// Bytes that may wait before anything is refused.
const HARD_LIMIT: usize = 2 * REQUEST_LIMIT;

/// The queue between everyone who sends and the one task that writes.
#[derive(Default)]
pub(crate) struct Outbox {
    state: Mutex<State>,
    ready: Notify,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Vec<u8>>,
    bytes: usize,
    closed: bool,
}

/// Why a message was not queued.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// The server has not read for so long that too much is waiting.
    #[error("the server is not reading: {waiting} bytes wait to be written")]
    Full {
        /// Bytes already waiting.
        waiting: usize,
    },
    /// The connection is closed.
    #[error("the connection is closed")]
    Closed,
}

impl Outbox {
    /// Queues a request. A single message of any size is taken when nothing else waits.
    pub(crate) fn push_request(&self, line: Vec<u8>) -> Result<(), Refused> {
        self.push(line, REQUEST_LIMIT)
    }

    /// Queues what the protocol owes the peer: an answer, a cancellation, an acknowledgement.
    pub(crate) fn push_owed(&self, line: Vec<u8>) -> Result<(), Refused> {
        self.push(line, HARD_LIMIT)
    }

    fn push(&self, line: Vec<u8>, limit: usize) -> Result<(), Refused> {
        {
            let mut state = self.state();
            if state.closed {
                return Err(Refused::Closed);
            }
            let cost = line.len() + OVERHEAD;
            if state.bytes > 0 && state.bytes + cost > limit {
                return Err(Refused::Full {
                    waiting: state.bytes,
                });
            }
            state.bytes += cost;
            state.queue.push_back(line);
        }
        self.ready.notify_one();
        Ok(())
    }

    /// The next message to write; `None` once the outbox is closed. For one reader.
    pub(crate) async fn pop(&self) -> Option<Vec<u8>> {
        loop {
            {
                let mut state = self.state();
                if state.closed {
                    return None;
                }
                if let Some(line) = state.queue.pop_front() {
                    state.bytes -= line.len() + OVERHEAD;
                    return Some(line);
                }
            }
            // A permit stored by a push that came in between is taken at once.
            self.ready.notified().await;
        }
    }

    /// Refuses everything from now on and drops what waits.
    pub(crate) fn close(&self) {
        *self.state() = State {
            closed: true,
            ..State::default()
        };
        self.ready.notify_one();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // The state is valid between any two statements, so a panic elsewhere does not spoil it.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Outbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // What waits may hold secrets.
        f.debug_struct("Outbox")
            .field("bytes", &self.state().bytes)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(flavor = "current_thread", start_paused = true)]
    async fn messages_leave_in_the_order_they_came() {
        let outbox = Outbox::default();
        for text in ["a", "b"] {
            outbox.push_request(text.into()).unwrap();
        }
        outbox.push_owed("c".into()).unwrap();
        assert_eq!(outbox.pop().await, Some(b"a".to_vec()));
        assert_eq!(outbox.pop().await, Some(b"b".to_vec()));
        assert_eq!(outbox.pop().await, Some(b"c".to_vec()));
    }

    /// R9
    #[test]
    fn a_server_that_does_not_read_is_owed_cancellations_but_no_more_requests() {
        let outbox = Outbox::default();
        outbox.push_request(vec![0; REQUEST_LIMIT]).unwrap();
        let waiting = REQUEST_LIMIT + OVERHEAD;
        let full = |waiting| Err(Refused::Full { waiting });
        assert_eq!(outbox.push_request(vec![0]), full(waiting));
        assert_eq!(outbox.push_owed(vec![0]), Ok(()));
        assert_eq!(
            outbox.push_owed(vec![0; HARD_LIMIT]),
            full(waiting + 1 + OVERHEAD)
        );
    }

    /// R9
    #[test]
    fn many_small_messages_are_bounded_by_what_they_cost() {
        let outbox = Outbox::default();
        let taken = (0..)
            .take_while(|_| outbox.push_owed(vec![0]).is_ok())
            .count();
        assert!(taken <= HARD_LIMIT / OVERHEAD, "{taken}");
    }

    #[tokio::test(flavor = "current_thread", start_paused = true)]
    async fn closing_wakes_the_writer_and_refuses_the_rest() {
        let outbox = std::sync::Arc::new(Outbox::default());
        let writer = tokio::spawn({
            let outbox = outbox.clone();
            async move { outbox.pop().await }
        });
        tokio::task::yield_now().await;
        outbox.close();
        assert_eq!(writer.await.unwrap(), None);
        assert_eq!(outbox.push_owed(vec![0]), Err(Refused::Closed));
    }
}
