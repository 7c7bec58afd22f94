//! When a startup stops trusting the fetch of another.

use std::time::Duration;

use tokio::time::Instant;

use super::Patience;

/// A startup that joined after `joined` seconds with `budget` seconds, looking at a fetch that began
/// after `newest`.
#[track_caller]
fn check(joined: f64, budget: f64, newest: f64, now: f64, due: Option<f64>) {
    let zero = Instant::now();
    let at = |time| zero + Duration::from_secs_f64(time);
    let patience = Patience::new(at(joined), at(joined + budget));
    assert_eq!(
        patience.backup_due(at(newest), at(now)),
        due.map(at),
        "joined {joined}, budget {budget}, newest {newest}, now {now}"
    );
}

/// C4b
#[test]
fn a_backup_is_due_after_half_of_the_budget_and_after_each_halving() {
    for (newest, due) in [
        (0.0, Some(16.0)),
        (16.0, Some(24.0)),
        (24.0, Some(28.0)),
        (28.0, Some(30.0)),
        (30.0, Some(31.0)),
        (31.0, None),
    ] {
        check(0.0, 32.0, newest, newest, due);
    }
}

/// C4b: the listing has run for half of the budget, whoever else has waited meanwhile.
#[test]
fn a_late_startup_counts_from_the_beginning_of_the_fetch() {
    check(10.0, 30.0, 0.0, 10.0, Some(15.0));
    check(100.0, 30.0, 0.0, 100.0, Some(15.0));
}

/// C4b
#[test]
fn a_fetch_that_began_later_gets_half_of_what_was_left() {
    check(0.0, 30.0, 20.0, 20.0, Some(25.0));
}

/// C4b
#[test]
fn a_backup_without_time_to_finish_is_not_started() {
    check(0.0, 32.0, 0.0, 31.0, Some(16.0));
    check(0.0, 32.0, 0.0, 31.5, None);
    check(0.0, 32.0, 0.0, 40.0, None);
    check(0.0, 0.0, 0.0, 0.0, None);
}

/// C3
#[test]
fn a_deadline_in_the_past_leaves_no_budget() {
    let now = Instant::now();
    let patience = Patience::new(now, now - Duration::from_millis(1));
    assert_eq!(patience.budget(), Duration::ZERO);
    assert!(patience.is_over(now));
}
