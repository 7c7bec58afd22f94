//! How much of a budget is left: the arithmetic, without any waiting.
//!
//! A clock stands still while a pause is open; pauses that overlap count once. Each pause counts up to a moment of its
//! own, whether or not it is closed by then. What has run out stays so: a pause that comes too late changes nothing.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::Instant;

/// The longest budget there is: beyond it the clock's arithmetic overflows, and nobody waits that long.
const LONGEST: Duration = Duration::from_secs(60 * 60 * 24 * 365);

/// `span` from now, or as near to it as the arithmetic allows.
pub(crate) fn from_now(span: Duration) -> Instant {
    Instant::now() + span.min(LONGEST)
}

/// Tells one pause from the others of this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PauseId(u64);

impl PauseId {
    pub(crate) fn next() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// A budget that time spends.
#[derive(Debug, Clone)]
pub(crate) struct Clock {
    /// What there is to spend, and what `restart` fills up to.
    budget: Duration,
    /// All that `restart` may ever give, the first budget included.
    total: Duration,
    /// What was left at `since`.
    left: Duration,
    /// What `restart` can still give.
    reserve: Duration,
    since: Instant,
    /// The pauses open at `since`, each with the moment it ceases to count.
    pauses: Vec<(PauseId, Instant)>,
}

impl Clock {
    /// A clock that starts at `now`. With a `total` beyond the budget it can be restarted, until that much is spent.
    pub(crate) fn new(budget: Duration, total: Duration, now: Instant) -> Self {
        let (budget, total) = (budget.min(LONGEST), total.min(LONGEST));
        Self {
            budget,
            total: total.max(budget),
            left: budget,
            reserve: total.saturating_sub(budget),
            since: now,
            pauses: Vec::new(),
        }
    }

    /// When the budget runs out, unless something changes until then.
    pub(crate) fn ends(&self) -> Instant {
        self.runs_from() + self.left
    }

    pub(crate) fn has_run_out(&self, now: Instant) -> bool {
        now >= self.ends()
    }

    /// What was allowed: the budget, or the total where that is what stopped a restart.
    pub(crate) fn allowed(&self) -> Duration {
        if self.reserve.is_zero() {
            self.total
        } else {
            self.budget
        }
    }

    /// Stands still from `now` until the pause is closed, and until `until` at most.
    pub(crate) fn pause(&mut self, pause: PauseId, until: Instant, now: Instant) {
        self.advance(now);
        if !self.left.is_zero() && until > now {
            self.pauses.push((pause, until));
        }
    }

    /// Goes on at `now`, unless other pauses are open.
    pub(crate) fn resume(&mut self, pause: PauseId, now: Instant) {
        self.advance(now);
        self.pauses.retain(|(open, _)| *open != pause);
    }

    /// Gives the budget back, as far as the total reaches.
    pub(crate) fn restart(&mut self, now: Instant) {
        self.advance(now);
        if self.left.is_zero() {
            return;
        }
        let given = (self.budget - self.left).min(self.reserve);
        self.left += given;
        self.reserve -= given;
    }

    /// The clock stands still from `since` up to here: every pause was open then.
    fn runs_from(&self) -> Instant {
        let ends = self.pauses.iter().map(|(_, until)| *until);
        ends.fold(self.since, Instant::max)
    }

    fn advance(&mut self, now: Instant) {
        // What has run out has run out then, not now.
        let now = now.min(self.ends());
        let ran = now.saturating_duration_since(self.runs_from());
        self.left = self.left.saturating_sub(ran);
        self.since = self.since.max(now);
        self.pauses.retain(|(_, until)| *until > now);
    }
}

#[cfg(test)]
mod tests;
