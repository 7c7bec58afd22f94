//! How long to wait before a server is connected again: longer and longer, and never in step with others (R10).

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use super::ReconnectPolicy;

/// The pauses of one server.
#[derive(Debug)]
pub(super) struct Backoff {
    policy: ReconnectPolicy,
    /// The next pause before it is cut.
    next: Duration,
}

impl Backoff {
    pub(super) fn new(policy: ReconnectPolicy) -> Self {
        Self {
            policy,
            next: policy.first(),
        }
    }

    /// The pause before the next attempt. The one after it is twice as long.
    pub(super) fn pause(&mut self) -> Duration {
        // A hasher is keyed at random, and differently each time.
        self.pause_cut_by(RandomState::new().hash_one(()))
    }

    /// A connection came to be and lasted so long. Only one that lasted makes the pauses short again.
    pub(super) fn lasted(&mut self, time: Duration) {
        if time > self.policy.longest() {
            self.next = self.policy.first();
        }
    }

    /// Between a half and the whole of what is due, evenly over all `random`.
    fn pause_cut_by(&mut self, random: u64) -> Duration {
        let due = self.next;
        self.next = due.saturating_mul(2).min(self.policy.longest());
        due - due.mul_f64(fraction(random) / 2.0).min(due / 2)
    }
}

/// The upper 32 bits of `random`, as a fraction of one.
fn fraction(random: u64) -> f64 {
    let upper = u32::try_from(random >> u32::BITS).unwrap_or(u32::MAX);
    f64::from(upper) / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tokio::time::{Instant, sleep};

    use super::*;

    fn policy(first: Duration, longest: Duration) -> ReconnectPolicy {
        ReconnectPolicy::new()
            .first_pause(first)
            .longest_pause(longest)
    }

    fn seconds(first: u64, longest: u64) -> ReconnectPolicy {
        policy(Duration::from_secs(first), Duration::from_secs(longest))
    }

    /// The pauses as they are due, before anything is cut off.
    fn due(policy: ReconnectPolicy, count: usize) -> Vec<Duration> {
        let mut backoff = Backoff::new(policy);
        (0..count).map(|_| backoff.pause_cut_by(0)).collect()
    }

    #[track_caller]
    fn check(policy: ReconnectPolicy, expected_ms: &[u64], why: &str) {
        let expected: Vec<_> = expected_ms
            .iter()
            .map(|&ms| Duration::from_millis(ms))
            .collect();
        assert_eq!(due(policy, expected.len()), expected, "{why}");
    }

    /// R10
    #[test]
    fn pauses_double_up_to_the_longest() {
        check(
            ReconnectPolicy::new(),
            &[
                500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000,
            ],
            "the default",
        );
        check(
            seconds(3, 10),
            &[3_000, 6_000, 10_000, 10_000],
            "a longest that is no power of two",
        );
        check(
            seconds(10, 3),
            &[3_000, 3_000],
            "a first beyond the longest",
        );
        check(seconds(0, 60), &[1, 2, 4], "no pause at all is a busy loop");
        check(seconds(0, 0), &[1, 1], "nor is no longest pause");
    }

    /// R10: how long a server that comes up and dies at once is waited for, against one that stays up.
    #[tokio::test(flavor = "current_thread", start_paused = true)]
    async fn only_a_connection_that_lasted_makes_the_pauses_short_again() {
        let policy = seconds(1, 60);
        // 63 s in six pauses and 240 s in four, or ten of one second: half of it at least, and the clock's whole milliseconds.
        for (up, least, most, why) in [
            (0, 151, 304, "it dies at once"),
            (59, 151, 304, "not long enough"),
            (61, 5, 11, "it stays up"),
        ] {
            let up = Duration::from_secs(up);
            let mut backoff = Backoff::new(policy);
            let mut paused = Duration::ZERO;
            for _ in 0..10 {
                let connected = Instant::now();
                sleep(up).await;
                backoff.lasted(connected.elapsed());
                let gone = Instant::now();
                sleep(backoff.pause()).await;
                paused += gone.elapsed();
            }
            let (least, most) = (Duration::from_secs(least), Duration::from_secs(most));
            assert!((least..=most).contains(&paused), "{why}: {paused:?}");
        }
    }

    /// R10: servers that went together do not come back together.
    #[test]
    fn pauses_spread_over_a_half() {
        let pauses: Vec<_> = (0..1_000)
            .map(|_| Backoff::new(seconds(8, 8)).pause())
            .collect();
        for eighth in 4_u64..8 {
            let (from, to) = (Duration::from_secs(eighth), Duration::from_secs(eighth + 1));
            let within = pauses.iter().filter(|&&pause| from <= pause && pause < to);
            let count = within.count();
            // 250 are expected, and the deviation is 14.
            assert!(
                (150..350).contains(&count),
                "{count} of 1,000 within {from:?} to {to:?}"
            );
        }
    }

    proptest! {
        /// R10: whatever the policy and whatever chance says.
        #[test]
        fn a_pause_is_never_over_the_longest_and_never_below_half_of_what_is_due(
            first in any::<Duration>(),
            longest in any::<Duration>(),
            random in prop::collection::vec(any::<u64>(), 1..80),
        ) {
            let policy = policy(first, longest);
            let mut backoff = Backoff::new(policy);
            for (random, due) in random.iter().zip(due(policy, random.len())) {
                let pause = backoff.pause_cut_by(*random);
                prop_assert!(pause <= due && due <= policy.longest(), "{:?} of {:?}", pause, due);
                prop_assert!(pause >= due / 2 && !pause.is_zero(), "{:?} of {:?}", pause, due);
            }
        }
    }
}
