//! How long one startup waits, and when it stops trusting the fetch of another.

use std::time::Duration;

use tokio::time::Instant;

/// A backup is not worth starting with less than this part of the budget left. It bounds the
/// backups to five for startups that began together: at 1/2, 3/4, 7/8, 15/16 and 31/32.
const SMALLEST_PART: u32 = 32;

/// The time of one startup, from joining to its own deadline.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Patience {
    joined: Instant,
    deadline: Instant,
}

impl Patience {
    pub(crate) fn new(joined: Instant, deadline: Instant) -> Self {
        let deadline = deadline.max(joined);
        Self { joined, deadline }
    }

    pub(crate) fn deadline(self) -> Instant {
        self.deadline
    }

    pub(crate) fn budget(self) -> Duration {
        self.deadline - self.joined
    }

    pub(crate) fn spent(self, now: Instant) -> Duration {
        now.saturating_duration_since(self.joined)
    }

    pub(crate) fn is_over(self, now: Instant) -> bool {
        now >= self.deadline
    }

    /// When to start a backup, given when the newest fetch began (rule C4b): once that fetch has
    /// run for half of the budget, or for half of what was left when it began if that was less.
    /// For startups that began with the first fetch this is at 1/2, 3/4, 7/8 ... of the budget.
    /// `None` when too little time would be left.
    pub(crate) fn backup_due(self, newest: Instant, now: Instant) -> Option<Instant> {
        let left_then = self.deadline.saturating_duration_since(newest);
        let due = newest + left_then.min(self.budget()) / 2;
        let left_at_start = self.deadline.saturating_duration_since(due.max(now));
        (left_at_start >= self.budget() / SMALLEST_PART && !left_at_start.is_zero()).then_some(due)
    }
}

#[cfg(test)]
mod tests;
