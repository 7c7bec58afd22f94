//! Pauses and restarts, on a clock that is moved by hand.

use proptest::prelude::*;

use super::*;

/// What happens to a clock.
#[derive(Debug, Clone, Copy)]
enum Step {
    /// So many seconds pass.
    Pass(u64),
    /// The pause of this number begins; it counts for so many seconds.
    Pause(u64, u64),
    /// The pause of this number is closed.
    Resume(u64),
    Restart,
}

use Step::{Pass, Pause, Restart, Resume};

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// How many seconds after its start the clock ends, once the steps are taken.
fn ends(budget: u64, total: u64, steps: &[Step]) -> u64 {
    let begun = Instant::now();
    let mut now = begun;
    let mut clock = Clock::new(seconds(budget), seconds(total), begun);
    for step in steps {
        match *step {
            Pass(span) => now += seconds(span),
            Pause(number, cap) => clock.pause(PauseId(number), now + seconds(cap), now),
            Resume(number) => clock.resume(PauseId(number), now),
            Restart => clock.restart(now),
        }
    }
    (clock.ends() - begun).as_secs()
}

/// B3
#[test]
fn a_pause_is_not_spent() {
    let rows: &[(&[Step], u64, &str)] = &[
        (&[], 10, "nothing happened"),
        (
            &[Pass(4), Pause(1, 600), Pass(30), Resume(1)],
            40,
            "it is longer than the budget",
        ),
        (
            &[Pass(4), Pause(1, 600), Pass(30)],
            610,
            "it is still open: its cap and what was left",
        ),
        (
            &[Pause(1, 20), Pass(25), Resume(1)],
            30,
            "it is capped at 20",
        ),
        (
            &[Pause(1, 20), Pass(60)],
            30,
            "it is capped at 20 and never closed",
        ),
        (
            &[Pause(1, 0), Pass(5), Resume(1)],
            10,
            "it counts for no time",
        ),
        (&[Resume(1)], 10, "it never began"),
    ];
    for (steps, expected, why) in rows {
        assert_eq!(ends(10, 10, steps), *expected, "{why}");
    }
}

/// B3
#[test]
fn pauses_that_overlap_count_once() {
    let rows: &[(&[Step], u64, &str)] = &[
        (
            &[
                Pause(1, 99),
                Pass(5),
                Pause(2, 99),
                Pass(5),
                Resume(1),
                Pass(5),
                Resume(2),
            ],
            25,
            "the second goes on",
        ),
        (
            &[
                Pause(1, 99),
                Pause(2, 99),
                Pass(5),
                Resume(2),
                Pass(5),
                Resume(1),
            ],
            20,
            "one within the other",
        ),
        (
            &[
                Pause(1, 99),
                Pass(5),
                Resume(1),
                Pass(2),
                Pause(2, 99),
                Pass(5),
                Resume(2),
            ],
            20,
            "one after the other",
        ),
        (
            &[Pause(1, 5), Pause(2, 99), Pass(8), Resume(1), Resume(2)],
            18,
            "the first is capped while the second is open",
        ),
        (
            &[Pause(1, 5), Pass(8), Pause(2, 99), Pass(4), Resume(2)],
            19,
            "the first is capped before the second begins",
        ),
    ];
    for (steps, expected, why) in rows {
        assert_eq!(ends(10, 10, steps), *expected, "{why}");
    }
}

/// B3
#[test]
fn what_has_run_out_stays_so() {
    for late in [Pause(1, 99), Restart] {
        assert_eq!(ends(10, 99, &[Pass(10), late, Pass(5)]), 10, "{late:?}");
    }
}

/// B4
#[test]
fn a_restart_gives_the_budget_back_and_never_more_than_the_total() {
    let rows: &[(u64, &[Step], u64, &str)] = &[
        (10, &[Pass(4), Restart], 10, "no total beyond the budget"),
        (0, &[Pass(4), Restart], 10, "a total below the budget"),
        (99, &[Pass(4), Restart], 14, "the whole budget again"),
        (
            99,
            &[Pass(4), Restart, Restart],
            14,
            "twice at once is once",
        ),
        (12, &[Pass(4), Restart], 12, "the total is reached"),
        (
            20,
            &[Pass(9), Restart, Pass(9), Restart, Pass(1), Restart],
            20,
            "the total is reached later",
        ),
        (
            20,
            &[Pass(4), Pause(1, 50), Pass(30), Restart, Resume(1)],
            44,
            "in a pause, which is not spent",
        ),
        (
            20,
            &[
                Pass(9),
                Restart,
                Pause(1, 50),
                Pass(30),
                Resume(1),
                Pass(9),
                Restart,
            ],
            50,
            "the total leaves out pauses",
        ),
    ];
    for (total, steps, expected, why) in rows {
        assert_eq!(ends(10, *total, steps), *expected, "{why}");
    }
}

/// B4
#[test]
fn what_was_allowed_is_what_ran_out() {
    let now = Instant::now();
    let mut clock = Clock::new(seconds(10), seconds(15), now);
    assert_eq!(clock.allowed(), seconds(10));
    clock.restart(now + seconds(6));
    assert_eq!(clock.allowed(), seconds(15));
    assert_eq!(
        Clock::new(seconds(10), seconds(1), now).allowed(),
        seconds(10)
    );
}

#[test]
fn spans_beyond_any_clock_are_no_panic() {
    let now = Instant::now();
    let mut clock = Clock::new(Duration::MAX, Duration::MAX, now);
    clock.pause(PauseId(1), from_now(Duration::MAX), now);
    clock.restart(now);
    assert!(!clock.has_run_out(now));
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (0u64..8).prop_map(Pass),
        (0u64..4, 0u64..12).prop_map(|(number, cap)| Pause(number, cap)),
        (0u64..4).prop_map(Resume),
    ]
}

proptest! {
    /// B3: the same as counting, second by second, those in which no pause counts.
    #[test]
    fn a_clock_spends_the_seconds_in_which_no_pause_counts(budget in 1u64..30, steps in proptest::collection::vec(step(), 0..20)) {
        let (mut second, mut left) = (0, budget);
        let mut open: Vec<(u64, u64)> = Vec::new();
        let mut spend = |second: &mut u64, open: &[(u64, u64)]| {
            if !open.iter().any(|(_, until)| *until > *second) {
                left -= 1;
            }
            *second += 1;
            left == 0
        };
        let mut over = false;
        for step in &steps {
            match *step {
                Pass(span) => for _ in 0..span {
                    over = over || spend(&mut second, &open);
                },
                Pause(number, cap) => open.push((number, second + cap)),
                Resume(number) => open.retain(|(other, _)| *other != number),
                Restart => {}
            }
        }
        while !over {
            over = spend(&mut second, &open);
        }
        prop_assert_eq!(ends(budget, budget, &steps), second);
    }
}
