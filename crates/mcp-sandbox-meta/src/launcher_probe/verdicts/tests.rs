//! What is remembered, for how long, and of how many.

use std::time::Duration;

use super::super::failure::ProbeFailure;
use super::*;

/// A cache of probes that are only names, at a moment of its own.
struct Cache {
    verdicts: Verdicts<&'static str>,
    now: Instant,
}

const REFUSED: Verdict = Err(ProbeFailure::Replaced);

/// Two files that exist and differ.
fn identity(file: &str) -> FileIdentity {
    FileIdentity::of(Path::new(file)).unwrap()
}

fn manifest() -> FileIdentity {
    identity(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"))
}

impl Cache {
    fn new() -> Self {
        Self {
            verdicts: Verdicts::default(),
            now: Instant::now(),
        }
    }

    fn settled(path: &str, verdict: Verdict) -> Self {
        let mut cache = Self::new();
        cache.learn(path, verdict);
        cache
    }

    fn learn(&mut self, path: &str, verdict: Verdict) {
        let flight = Arc::new("probe");
        self.verdicts.began(Path::new(path), manifest(), &flight);
        self.verdicts
            .settle(Path::new(path), &flight, verdict, self.now);
    }

    /// `verdict`, `flight` or `nothing`.
    fn find(&mut self, path: &str) -> &'static str {
        match self.verdicts.find(Path::new(path), &manifest(), self.now) {
            Some(Found::Verdict(_)) => "verdict",
            Some(Found::Flight(_)) => "flight",
            None => "nothing",
        }
    }
}

/// S5
#[tokio::test(start_paused = true)]
async fn an_answer_is_kept_and_a_failure_to_get_one_for_a_minute() {
    let start = || Err(ProbeFailure::Start(Arc::new(std::io::Error::other("no"))));
    for (verdict, passes) in [
        (Ok(()), false),
        (REFUSED, false),
        (Err(ProbeFailure::TimedOut), true),
        (start(), true),
    ] {
        let mut cache = Cache::settled("/a", verdict.clone());
        for (seconds, expected) in [
            (0, "verdict"),
            (59, "verdict"),
            (1, if passes { "nothing" } else { "verdict" }),
        ] {
            cache.now += Duration::from_secs(seconds);
            assert_eq!(
                cache.find("/a"),
                expected,
                "{verdict:?} after {seconds} s more"
            );
        }
    }
}

/// S5
#[tokio::test(start_paused = true)]
async fn a_verdict_is_about_one_path_and_one_file() {
    let mut cache = Cache::settled("/a", Ok(()));
    assert_eq!(cache.find("/b"), "nothing");
    let other = identity(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md"));
    let found = cache.verdicts.find(Path::new("/a"), &other, cache.now);
    assert!(found.is_none(), "{found:?}");
    assert_eq!(cache.find("/a"), "verdict");
}

/// S5
#[tokio::test(start_paused = true)]
async fn a_probe_is_shared_until_nobody_waits_for_it() {
    let mut cache = Cache::new();
    let flight = Arc::new("probe");
    cache.verdicts.began(Path::new("/a"), manifest(), &flight);
    assert_eq!(cache.find("/a"), "flight");
    drop(flight);
    assert_eq!(cache.find("/a"), "nothing");
}

#[tokio::test(start_paused = true)]
async fn an_old_probe_does_not_overwrite_what_a_newer_one_said() {
    let mut cache = Cache::new();
    let (old, new) = (Arc::new("old"), Arc::new("new"));
    cache.verdicts.began(Path::new("/a"), manifest(), &old);
    cache.verdicts.began(Path::new("/a"), manifest(), &new);
    cache
        .verdicts
        .settle(Path::new("/a"), &old, REFUSED, cache.now);
    assert_eq!(cache.find("/a"), "flight");
    cache
        .verdicts
        .settle(Path::new("/a"), &new, Ok(()), cache.now);
    cache
        .verdicts
        .settle(Path::new("/a"), &new, REFUSED, cache.now);
    let found = cache.verdicts.find(Path::new("/a"), &manifest(), cache.now);
    assert!(matches!(found, Some(Found::Verdict(Ok(())))), "{found:?}");
}

/// S5
#[tokio::test(start_paused = true)]
async fn the_path_that_was_not_used_for_longest_makes_room() {
    let mut cache = Cache::new();
    for number in 0..MOST {
        cache.learn(&format!("/{number}"), Ok(()));
        assert_eq!(cache.find(&format!("/{number}")), "verdict");
    }
    assert_eq!(cache.find("/0"), "verdict");
    cache.learn("/0", REFUSED);
    assert_eq!(
        cache.verdicts.entries.len(),
        MOST,
        "a known path takes no room"
    );
    cache.learn("/new", Ok(()));
    assert_eq!(cache.verdicts.entries.len(), MOST);
    assert_eq!(cache.find("/1"), "nothing");
    assert_eq!(cache.find("/0"), "verdict");
}
