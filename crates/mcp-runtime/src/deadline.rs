//! Waiting under a budget of time.

use std::fmt;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

use crate::clock::{Clock, PauseId, from_now};

/// A budget on tokio's clock. Everything done under it draws on the same time (R2, B3).
///
/// Clones are the same deadline. One that is paused or restarted moves, and whoever waits under it moves along.
#[derive(Debug, Clone)]
pub(crate) struct Deadline {
    clock: watch::Sender<Clock>,
}

/// The deadline passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("timed out after {}", Seconds(*.budget))]
pub struct Elapsed {
    budget: Duration,
}

impl Elapsed {
    /// The time that was allowed. Pauses of a call are not in it (B3).
    #[must_use]
    pub fn budget(&self) -> Duration {
        self.budget
    }
}

impl Deadline {
    /// `budget` from now.
    pub(crate) fn after(budget: Duration) -> Self {
        Self::restartable(budget, budget)
    }

    /// `budget` from now, and from each restart; `total` in all at most.
    pub(crate) fn restartable(budget: Duration, total: Duration) -> Self {
        Self {
            clock: watch::Sender::new(Clock::new(budget, total, Instant::now())),
        }
    }

    /// When it passes, unless something changes until then.
    pub(crate) fn at(&self) -> Instant {
        self.clock.borrow().ends()
    }

    pub(crate) fn has_passed(&self) -> bool {
        self.clock.borrow().has_run_out(Instant::now())
    }

    pub(crate) fn elapsed(&self) -> Elapsed {
        Elapsed {
            budget: self.clock.borrow().allowed(),
        }
    }

    pub(crate) fn remaining(&self) -> Duration {
        self.at().saturating_duration_since(Instant::now())
    }

    /// Stands still until what is returned is dropped, and for `cap` at most (B3).
    pub(crate) fn stand_still(&self, cap: Duration) -> Standstill<'_> {
        let pause = PauseId::next();
        self.pause(pause, from_now(cap));
        Standstill {
            pause,
            deadline: self,
        }
    }

    /// Stands still until the pause is ended by [`resume`](Self::resume), and until `until` at most.
    pub(crate) fn pause(&self, pause: PauseId, until: Instant) {
        self.clock
            .send_modify(|clock| clock.pause(pause, until, Instant::now()));
    }

    pub(crate) fn resume(&self, pause: PauseId) {
        self.clock
            .send_modify(|clock| clock.resume(pause, Instant::now()));
    }

    /// Begins anew, as far as the total reaches.
    pub(crate) fn restart(&self) {
        self.clock
            .send_modify(|clock| clock.restart(Instant::now()));
    }

    /// Waits for `future` until the deadline. A deadline that has passed does not even begin it.
    pub(crate) async fn bound<F: Future>(&self, future: F) -> Result<F::Output, Elapsed> {
        if self.has_passed() {
            return Err(self.elapsed());
        }
        self.bound_once_begun(future).await
    }

    /// As [`bound`](Self::bound); a deadline that has passed still lets `future` do what it can do at once.
    pub(crate) async fn bound_once_begun<F: Future>(
        &self,
        future: F,
    ) -> Result<F::Output, Elapsed> {
        tokio::select! {
            biased;
            output = future => Ok(output),
            () = self.passed() => Err(self.elapsed()),
        }
    }

    async fn passed(&self) {
        let mut clock = self.clock.subscribe();
        while !self.has_passed() {
            let ends = clock.borrow_and_update().ends();
            // Either the time is over or it has moved; the loop looks.
            let _ = timeout_at(ends, clock.changed()).await;
        }
    }
}

/// A pause of one deadline; dropping it ends it.
#[derive(Debug)]
pub(crate) struct Standstill<'a> {
    pause: PauseId,
    deadline: &'a Deadline,
}

impl Drop for Standstill<'_> {
    fn drop(&mut self) {
        self.deadline.resume(self.pause);
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
    use tokio::time::sleep;

    use super::*;

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[tokio::test(flavor = "current_thread", start_paused = true)]
    async fn work_done_one_after_the_other_draws_on_one_budget() {
        let deadline = Deadline::after(Duration::from_millis(300));
        let step = || sleep(Duration::from_millis(200));
        assert!(deadline.bound(step()).await.is_ok());
        let error = deadline.bound(step()).await.unwrap_err();
        assert_eq!(error.to_string(), "timed out after 0.3 s");
        assert!(
            deadline.bound(std::future::ready(())).await.is_err(),
            "nothing begins after the end"
        );
    }

    /// How long somebody waits under a deadline of 2 s for what never comes, while this happens to it.
    async fn waited(deadline: Deadline, meanwhile: impl AsyncFnOnce(&Deadline)) -> Duration {
        let begun = Instant::now();
        let waiting = async {
            let error = deadline.bound(std::future::pending::<()>()).await;
            (error, begun.elapsed())
        };
        let ((outcome, waited), ()) = tokio::join!(waiting, meanwhile(&deadline));
        assert_eq!(outcome, Err(deadline.elapsed()));
        waited
    }

    /// B3
    #[tokio::test(flavor = "current_thread", start_paused = true)]
    async fn who_waits_sees_the_clock_stand_still() {
        let pause = PauseId::next();
        let longer_than_the_budget = async |deadline: &Deadline| {
            sleep(seconds(1)).await;
            deadline.pause(pause, from_now(seconds(600)));
            sleep(seconds(9)).await;
            deadline.resume(pause);
        };
        let deadline = Deadline::after(seconds(2));
        assert_eq!(waited(deadline, longer_than_the_budget).await, seconds(11));
        let never_closed = async |deadline: &Deadline| {
            sleep(seconds(1)).await;
            deadline.pause(pause, from_now(seconds(5)));
        };
        let deadline = Deadline::after(seconds(2));
        assert_eq!(waited(deadline, never_closed).await, seconds(7));
        let too_late = async |deadline: &Deadline| {
            sleep(seconds(2)).await;
            deadline.pause(pause, from_now(seconds(5)));
            sleep(seconds(1)).await;
            assert!(deadline.has_passed());
        };
        let deadline = Deadline::after(seconds(2));
        assert_eq!(waited(deadline, too_late).await, seconds(2));
    }

    /// B3
    #[tokio::test(flavor = "current_thread", start_paused = true)]
    async fn who_waits_sees_overlapping_pauses_as_one() {
        let (first, second) = (PauseId::next(), PauseId::next());
        let overlapping = async |deadline: &Deadline| {
            deadline.pause(first, from_now(seconds(600)));
            sleep(seconds(4)).await;
            deadline.pause(second, from_now(seconds(600)));
            sleep(seconds(4)).await;
            deadline.resume(first);
            sleep(seconds(4)).await;
            deadline.resume(second);
        };
        let deadline = Deadline::after(seconds(2));
        assert_eq!(waited(deadline, overlapping).await, seconds(14));
    }

    /// B4
    #[tokio::test(flavor = "current_thread", start_paused = true)]
    async fn who_waits_sees_a_restart() {
        let progress = async |deadline: &Deadline| {
            for _ in 0..9 {
                sleep(seconds(1)).await;
                deadline.restart();
            }
        };
        assert_eq!(
            waited(Deadline::after(seconds(2)), progress).await,
            seconds(2)
        );
        let total = Deadline::restartable(seconds(2), seconds(6));
        assert_eq!(waited(total, progress).await, seconds(6));
        let total = Deadline::restartable(seconds(2), seconds(600));
        assert_eq!(waited(total, progress).await, seconds(11));
    }

    /// A result that is there when the time is over counts.
    #[tokio::test(flavor = "current_thread", start_paused = true)]
    async fn what_ends_with_the_deadline_is_in_time() {
        let deadline = Deadline::after(seconds(2));
        assert!(deadline.bound(sleep(seconds(2))).await.is_ok());
    }

    #[tokio::test(flavor = "current_thread", start_paused = true)]
    async fn a_budget_beyond_any_clock_is_no_panic() {
        assert!(!Deadline::after(Duration::MAX).has_passed());
    }
}
