//! Time in proportion to the bytes, also for those that mean no good.

use std::time::Duration;

use tokio::time::Instant;

use super::{events, lines};

/// Bytes of a small stream, and how many of them make a large one.
const SMALL: usize = 4 * 1024;
const TIMES: usize = 16;
/// What is linear takes as long for the large one as for all the small ones, and what is quadratic `TIMES` as long.
const ALLOWED: u32 = 4;
/// How often something may have come in between.
const ROUNDS: usize = 10;

/// A stream is a beginning, and something over and over again.
const SHAPES: &[(&str, &str, &str)] = &[
    ("", "[", "arrays without an end"),
    ("", "{\"a\":", "objects without an end"),
    ("{\"id\":1,\"result\":", "[", "a result without an end"),
    (
        "{\"id\":1,\"method\":\"elicitation/create\",\"params\":",
        "[",
        "deep parameters of a request",
    ),
    (
        "{\"method\":\"notifications/message\",\"params\":{\"data\":",
        "{\"a\":",
        "a deep log message",
    ),
    ("{\"id\":1,\"result\":\"", "\\u0041", "escapes"),
    ("{\"id\":1,\"result\":\"", "\\\\", "backslashes"),
    ("", "\"", "quotes"),
    ("", "{\"id\":1,", "ids"),
    ("{\"id\":", "1", "an id of many digits"),
    ("{\"id\":1,\"result\":1", "0", "a number of many digits"),
    ("[", "{\"id\":1,\"result\":{}},", "a batch without an end"),
    (
        "[",
        "{\"method\":\"ping\",\"id\":1},",
        "requests in a batch",
    ),
    ("", "\u{feff}", "byte order marks"),
    ("", " ", "blanks"),
    ("", "\n", "lines without anything"),
    ("", "\r", "returns"),
    ("", "{\"method\":\"ping\",\"id\":1}\n", "requests"),
    (
        "",
        "{\"method\":\"notifications/message\",\"params\":{\"data\":1}}\n",
        "log messages",
    ),
    ("", "data: {}\n", "an event of many lines"),
    ("", "data\n", "an event of empty lines"),
    ("", "data: 1\n\n", "events"),
    ("", "id: 1\n", "event ids"),
    ("", ":\n", "comments"),
    ("data: [", "data: 1,\n", "an array over many lines"),
];

fn stream(begin: &str, again: &str, length: usize) -> Vec<u8> {
    let times = length / again.len();
    [begin, &again.repeat(times)].concat().into_bytes()
}

fn timed(run: impl Fn()) -> Duration {
    let begun = Instant::now();
    run();
    begun.elapsed()
}

/// R9: `limit` is of a message; `chunk` of what arrives at once.
#[track_caller]
fn check(limit: usize, chunk: usize, why: &str) {
    for (begin, again, shape) in SHAPES {
        let [small, large] = [SMALL, SMALL * TIMES].map(|length| stream(begin, again, length));
        let read = |bytes: &[u8]| {
            lines::read(limit, bytes.chunks(chunk));
            events::read(limit, bytes.chunks(chunk));
        };
        // Side by side, so that a busy machine slows down both.
        let is_linear = |_| {
            let small = timed(|| (0..TIMES).for_each(|_| read(&small)));
            timed(|| read(&large)) <= small * ALLOWED
        };
        assert!(
            (0..ROUNDS).any(is_linear),
            "{why}, {shape}: {TIMES} times as much takes more than {ALLOWED} times {TIMES} times as long"
        );
    }
}

#[test]
fn reading_takes_time_in_proportion_to_what_is_read() {
    check(usize::MAX / 8, 97, "all of it kept, in small chunks");
    check(1_000, 64 * 1024, "too long, at once");
}
