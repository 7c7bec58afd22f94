//! One point in time by which something must be over, and the budget it came from.

use std::fmt;
use std::time::Duration;

use tokio::time::{Instant, timeout_at};

/// A deadline on tokio's clock. Everything done under it draws on the same budget (R2, B3).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deadline {
    at: Instant,
    budget: Duration,
}

/// The deadline passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("timed out after {}", Seconds(*.budget))]
pub struct Elapsed {
    budget: Duration,
}

impl Elapsed {
    /// The time that was allowed.
    #[must_use]
    pub fn budget(&self) -> Duration {
        self.budget
    }
}

/// The longest deadline there is: beyond it the clock's arithmetic overflows, and nobody waits that long.
const LONGEST: Duration = Duration::from_secs(60 * 60 * 24 * 365);

impl Deadline {
    /// `budget` from now.
    pub(crate) fn after(budget: Duration) -> Self {
        Self {
            at: Instant::now() + budget.min(LONGEST),
            budget,
        }
    }

    pub(crate) fn at(&self) -> Instant {
        self.at
    }

    pub(crate) fn has_passed(&self) -> bool {
        Instant::now() >= self.at
    }

    pub(crate) fn elapsed(&self) -> Elapsed {
        Elapsed {
            budget: self.budget,
        }
    }

    pub(crate) fn remaining(&self) -> Duration {
        self.at.saturating_duration_since(Instant::now())
    }

    /// Waits for `future` until the deadline. A deadline that has passed does not even begin it.
    pub(crate) async fn bound<F: Future>(&self, future: F) -> Result<F::Output, Elapsed> {
        if self.has_passed() {
            return Err(self.elapsed());
        }
        timeout_at(self.at, future)
            .await
            .map_err(|_elapsed| self.elapsed())
    }
}

/// Seconds as a person writes them: `5 s`, `0.3 s`.
struct Seconds(Duration);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} s", self.0.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(flavor = "current_thread", start_paused = true)]
    async fn work_done_one_after_the_other_draws_on_one_budget() {
        let deadline = Deadline::after(Duration::from_millis(300));
        assert!(
            deadline
                .bound(tokio::time::sleep(Duration::from_millis(200)))
                .await
                .is_ok()
        );
        let error = deadline
            .bound(tokio::time::sleep(Duration::from_millis(200)))
            .await
            .unwrap_err();
        assert_eq!(error.to_string(), "timed out after 0.3 s");
        assert!(
            deadline.bound(std::future::ready(())).await.is_err(),
            "nothing begins after the end"
        );
    }

    #[test]
    fn a_budget_beyond_any_clock_is_no_panic() {
        tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .unwrap()
            .block_on(async {
                assert!(!Deadline::after(Duration::MAX).has_passed());
            });
    }
}
