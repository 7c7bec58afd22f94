//! How an expectation fails: a panic that says what was expected, where, and what came instead.

use std::panic::Location;
use std::{fmt, thread};

/// Fails the test that asked for something at `at`.
#[expect(
    clippy::panic,
    reason = "an expectation that does not hold fails its test"
)]
pub(crate) fn fail(at: &Location<'_>, what: impl fmt::Display) -> ! {
    panic!("{what}\n  expected at {at}")
}

/// Fails the test because something was dropped without an answer, unless the test is failing already:
/// a second panic would abort the process and hide the first.
pub(crate) fn fail_on_drop(at: &Location<'_>, what: impl fmt::Display) {
    if !thread::panicking() {
        fail(at, what);
    }
}
