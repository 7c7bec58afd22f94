//! Time in proportion to the bytes, also for those that mean no good.

use std::time::Duration;

use tokio::time::Instant;

use super::{events, lines};

/// Bytes of the small stream, and how many times longer the large one is.
const SMALL: usize = 8 * 1024;
const TIMES: u32 = 16;
/// The best of so many runs counts: whatever else the machine does only adds to one.
const RUNS: usize = 8;
/// What is linear takes `TIMES` as long, and what is quadratic `TIMES` times `TIMES`.
const ALLOWED: u32 = 5 * TIMES;
/// Nobody measures less than that.
const TICK: Duration = Duration::from_micros(50);

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
        let [small, large] = [1, TIMES].map(|times| {
            let length = SMALL * usize::try_from(times).expect("few");
            let bytes = stream(begin, again, length);
            move || {
                timed(|| {
                    lines::read(limit, bytes.chunks(chunk));
                    events::read(limit, bytes.chunks(chunk));
                })
            }
        });
        let allowed = small().min(small()).max(TICK) * ALLOWED;
        let best = (0..RUNS).map(|_| large()).find(|large| *large <= allowed);
        assert!(
            best.is_some(),
            "{why}, {shape}: more than {allowed:?} for {TIMES} times as much"
        );
    }
}

#[test]
fn reading_takes_time_in_proportion_to_what_is_read() {
    check(usize::MAX / 8, 64 * 1024, "all of it kept");
    check(usize::MAX / 8, 97, "all of it kept, in small chunks");
    check(1_000, 64 * 1024, "too long");
    check(1_000, 97, "too long, in small chunks");
}
