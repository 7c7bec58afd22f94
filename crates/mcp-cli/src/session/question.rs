//! Questions that wait for whoever runs the session.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use crate::report::ErrorReport;

/// The open questions of one kind, of all runtimes of a session, each with its number. `A` is what answers one.
#[derive(Debug)]
pub(super) struct Questions<A> {
    /// What a question is called where it is spoken of.
    kind: &'static str,
    open: Mutex<HashMap<u64, oneshot::Sender<A>>>,
    numbers: Numbers,
}

/// Counts questions, through the whole session.
#[derive(Debug, Clone, Default)]
pub(super) struct Numbers(Arc<AtomicU64>);

/// A question that waits; dropping it closes it.
#[derive(Debug)]
pub(super) struct Question<A> {
    number: u64,
    answer: oneshot::Receiver<A>,
    questions: Arc<Questions<A>>,
}

impl<A> Questions<A> {
    pub(super) fn new(kind: &'static str, numbers: &Numbers) -> Arc<Self> {
        Arc::new(Self {
            kind,
            open: Mutex::default(),
            numbers: numbers.clone(),
        })
    }

    pub(super) fn open(self: &Arc<Self>) -> Question<A> {
        let number = self.numbers.0.fetch_add(1, Ordering::Relaxed) + 1;
        let (sender, answer) = oneshot::channel();
        self.table().insert(number, sender);
        Question {
            number,
            answer,
            questions: self.clone(),
        }
    }

    /// Answers one of them. A reply that is wrong leaves it open.
    pub(super) fn answer(
        &self,
        number: u64,
        read: impl FnOnce() -> Result<A, ErrorReport>,
    ) -> Result<(), ErrorReport> {
        let not_open = || ErrorReport::invalid(format!("{} {number} is not open", self.kind));
        if !self.table().contains_key(&number) {
            return Err(not_open());
        }
        let answer = read()?;
        let waiting = self.table().remove(&number);
        let answered = waiting.is_some_and(|waiting| waiting.send(answer).is_ok());
        answered.then_some(()).ok_or_else(not_open)
    }

    fn table(&self) -> MutexGuard<'_, HashMap<u64, oneshot::Sender<A>>> {
        // Every map operation is complete or has not begun.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<A> Question<A> {
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// What was answered. `None` does not come up: a sender is dropped only by its answer, or with the question.
    pub(super) async fn answered(mut self) -> Option<A> {
        (&mut self.answer).await.ok()
    }
}

impl<A> Drop for Question<A> {
    fn drop(&mut self) {
        self.questions.table().remove(&self.number);
    }
}
