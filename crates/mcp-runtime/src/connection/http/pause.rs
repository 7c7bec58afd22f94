//! The time between two attempts to open a stream, so that no endpoint is asked again and again.

use std::time::Duration;

/// The first pause, unless the server asks for another.
const FIRST: Duration = Duration::from_secs(1);
/// The shortest pause, whatever the server asks for.
const SHORTEST: Duration = Duration::from_millis(100);
/// The longest pause, unless the server asks for more.
const LONGEST: Duration = Duration::from_secs(60);

/// Pauses that double while nothing comes of the attempts.
#[derive(Debug, Default)]
pub(super) struct Pause {
    attempts: u32,
}

impl Pause {
    /// The next pause. The server may ask to be left alone for longer, and for the beginning also for less.
    pub(super) fn next(&mut self, asked: Option<Duration>) -> Duration {
        let first = asked.unwrap_or(FIRST).max(SHORTEST);
        let doubled = first.saturating_mul(2_u32.saturating_pow(self.attempts));
        self.attempts = self.attempts.saturating_add(1);
        doubled.min(LONGEST.max(first))
    }

    /// Something came of an attempt.
    pub(super) fn reset(&mut self) {
        self.attempts = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(asked: Option<u64>, expected: &[u64]) {
        let mut pause = Pause::default();
        let asked = asked.map(Duration::from_millis);
        let pauses: Vec<_> = expected.iter().map(|_| pause.next(asked)).collect();
        let expected: Vec<_> = expected
            .iter()
            .copied()
            .map(Duration::from_millis)
            .collect();
        assert_eq!(pauses, expected, "asked for {asked:?}");
        pause.reset();
        assert_eq!(pause.next(asked), expected[0], "asked for {asked:?}");
    }

    #[test]
    fn pauses_double_up_to_a_bound() {
        check(
            None,
            &[
                1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000,
            ],
        );
    }

    #[test]
    fn a_server_is_left_alone_for_as_long_as_it_asks_and_never_asked_in_a_hurry() {
        check(Some(300), &[300, 600, 1_200]);
        check(Some(0), &[100, 200, 400]);
        check(Some(120_000), &[120_000, 120_000]);
    }

    #[test]
    fn attempts_beyond_counting_are_no_panic() {
        let mut pause = Pause { attempts: u32::MAX };
        assert_eq!(pause.next(None), LONGEST);
    }
}
