//! How many fetches a burst of change notices costs: one, and one more.
//!
//! The state is two counters and one permit. `asked` counts the requests; `paid` is the value that
//! `asked` had when the newest successful fetch began; the permit is held while a fetch runs. A
//! refresh is owed while `paid < asked`. Nothing ever has to be handed back: a turn that is dropped,
//! whether its fetch failed, panicked or was cancelled, has not moved `paid`.

use std::future::Future;

use tokio::sync::{Semaphore, SemaphorePermit, watch};

/// Coalesces the refreshes of one connection's catalog (rule C9).
///
/// However many requests arrive, at most one fetch runs and at most one more is owed. A fetch pays
/// only for the requests made before it began: what arrives while it runs is owed again.
///
/// Refreshes always fetch on their own connection: nothing here knows
/// [`SharedListings`](crate::SharedListings) (rule C2).
///
/// # When a fetch fails
///
/// The debt stays and [`is_owed`](Self::is_owed) goes on saying so, whether the fetch ended with an
/// error, by a panic or because its future was dropped. The next [`due`](Self::due) is ready at
/// once: whoever drives it decides how long to wait after a failure.
#[derive(Debug)]
pub struct RefreshGate {
    debt: watch::Sender<Debt>,
    turn: Semaphore,
}

/// The right to run the one fetch that may run now. Dropping it without [`pay`](Self::pay) leaves
/// the debt as it was.
#[derive(Debug)]
#[must_use = "a refresh is owed until the turn is paid"]
pub struct RefreshTurn<'a> {
    gate: &'a RefreshGate,
    covers: u64,
    _permit: SemaphorePermit<'a>,
}

#[derive(Debug, Clone, Copy)]
struct Debt {
    asked: u64,
    paid: u64,
}

impl RefreshGate {
    /// A gate at which nothing is owed.
    #[must_use]
    pub fn new() -> Self {
        Self {
            debt: watch::Sender::new(Debt { asked: 0, paid: 0 }),
            turn: Semaphore::new(1),
        }
    }

    /// Owes a refresh: `list_changed` arrived. Never waits.
    pub fn request(&self) {
        self.ask();
    }

    /// Whether a refresh is owed: one was requested, and no fetch that began after the request has
    /// been paid yet. Stays true while the fetch runs.
    #[must_use]
    pub fn is_owed(&self) -> bool {
        self.debt.borrow().is_owed()
    }

    /// Waits until a refresh is owed and no other fetch runs, and takes the turn. Dropping the
    /// future loses nothing.
    pub async fn due(&self) -> RefreshTurn<'_> {
        let mut debt = self.debt.subscribe();
        loop {
            // The sender lives in `self`, so the channel cannot close.
            let _ = debt.wait_for(Debt::is_owed).await;
            if let Some(turn) = self.turn_for(Debt::is_owed).await {
                return turn;
            }
        }
    }

    /// An explicit refresh: owes one, waits for the turn, fetches and pays. `None` when a fetch of
    /// somebody else that began after this call paid for it meanwhile.
    ///
    /// # Errors
    ///
    /// The error of the caller's own fetch; the refresh stays owed. An error of another's fetch is
    /// never seen here: this caller then fetches itself.
    pub async fn refresh<R, E, F, Fut>(&self, fetch: F) -> Result<Option<R>, E>
    where
        F: FnOnce() -> Fut,
        Fut: Future<Output = Result<R, E>>,
    {
        let asked = self.ask();
        let Some(turn) = self.turn_for(|debt| debt.paid < asked).await else {
            return Ok(None);
        };
        let fetched = fetch().await?;
        turn.pay();
        Ok(Some(fetched))
    }

    /// Waits for the permit; `None` when there is nothing left to do by then.
    async fn turn_for(&self, still_due: impl Fn(&Debt) -> bool) -> Option<RefreshTurn<'_>> {
        let permit = self
            .turn
            .acquire()
            .await
            .expect("the semaphore is never closed");
        let debt = *self.debt.borrow();
        still_due(&debt).then(|| RefreshTurn {
            gate: self,
            covers: debt.asked,
            _permit: permit,
        })
    }

    fn ask(&self) -> u64 {
        let mut asked = 0;
        self.debt.send_modify(|debt| {
            debt.asked += 1;
            asked = debt.asked;
        });
        asked
    }
}

impl RefreshTurn<'_> {
    /// The fetch succeeded and its listing was published: nothing requested before the turn began
    /// is owed any more.
    pub fn pay(self) {
        self.gate.debt.send_modify(|debt| debt.paid = self.covers);
    }
}

impl Debt {
    fn is_owed(&self) -> bool {
        self.paid < self.asked
    }
}

// === impl ===

impl Default for RefreshGate {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests;
