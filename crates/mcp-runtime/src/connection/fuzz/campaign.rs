//! Many inputs, tried on all processors.

use std::any::Any;
use std::io::Write as _;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use super::input::Input;

/// What a run of the tests tries.
const INPUTS: u64 = 5_000;
/// How long one input may take. They take microseconds, on a machine that has other things to do as well.
const HANG: Duration = Duration::from_secs(20);
/// Inputs a worker takes at once.
const BATCH: u64 = 256;

/// Inputs to be tried, by their numbers.
#[derive(Debug)]
pub(super) struct Campaign {
    numbers: Range<u64>,
    workers: usize,
}

/// The first input that fails.
struct Failure {
    number: u64,
    panic: Box<dyn Any + Send>,
}

impl Campaign {
    /// As `cargo xtask fuzz` asks for it in the environment.
    pub(super) fn of_this_run() -> Self {
        let asked = |name| std::env::var(name).ok().map(|text| text.parse::<u64>());
        let first = asked("MCP_FUZZ_SEED").map_or(0, |seed| seed.expect("a number"));
        let inputs = asked("MCP_FUZZ_INPUTS").map_or(INPUTS, |inputs| inputs.expect("a number"));
        Self {
            numbers: first..first.checked_add(inputs).expect("a number of inputs"),
            workers: thread::available_parallelism().map_or(1, Into::into),
        }
    }

    /// Tries each input; one that panics or does not end is named.
    #[track_caller]
    pub(super) fn run(&self, check: fn(u64)) {
        let next = AtomicU64::new(self.numbers.start);
        let at_work: Vec<_> = (0..self.workers)
            .map(|_| AtomicU64::new(u64::MAX))
            .collect();
        let (failed, failure) = sync_channel(self.workers);
        let worker = |current: &AtomicU64, failed: SyncSender<Failure>| {
            while let Some(batch) = self.take(&next) {
                for number in batch {
                    current.store(number, Ordering::Relaxed);
                    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| check(number))) {
                        // The first one is enough.
                        next.store(self.numbers.end, Ordering::Relaxed);
                        let _ = failed.send(Failure { number, panic });
                        return;
                    }
                }
            }
            current.store(u64::MAX, Ordering::Relaxed);
        };
        thread::scope(|scope| {
            for current in &at_work {
                let failed = failed.clone();
                scope.spawn(move || worker(current, failed));
            }
            drop(failed);
            let mut before = Vec::new();
            loop {
                match failure.recv_timeout(HANG) {
                    Ok(Failure { number, panic }) => fail(number, said(&*panic)),
                    Err(RecvTimeoutError::Disconnected) => return,
                    Err(RecvTimeoutError::Timeout) => {}
                }
                let now: Vec<_> = at_work
                    .iter()
                    .map(|at| at.load(Ordering::Relaxed))
                    .collect();
                let mut stuck = now
                    .iter()
                    .filter(|at| **at != u64::MAX && before.contains(*at));
                if let Some(number) = stuck.next() {
                    // A panic would wait for the worker that does not end.
                    // Nor is what a test prints ever shown then.
                    let _ = writeln!(std::io::stderr(), "{}", report(*number, "it does not end"));
                    std::process::abort();
                }
                before = now;
            }
        });
    }

    fn take(&self, next: &AtomicU64) -> Option<Range<u64>> {
        let start = next.fetch_add(BATCH, Ordering::Relaxed);
        (start < self.numbers.end).then(|| start..self.numbers.end.min(start + BATCH))
    }
}

#[track_caller]
fn fail(number: u64, why: &str) -> ! {
    panic!("{}", report(number, why))
}

fn report(number: u64, why: &str) -> String {
    format!(
        "{why}\n  input {number}: {:?}\n  again: cargo xtask fuzz --seed {number} --inputs 1",
        Input::of(number)
    )
}

fn said(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("it panics")
}
