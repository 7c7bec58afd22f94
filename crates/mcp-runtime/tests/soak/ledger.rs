//! Every call and its ending.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::sync::{Mutex, MutexGuard};

use crate::ending::Ending;
use crate::fault::Fault;
use crate::gauge::Gauge;
use crate::size::Size;

/// What has become of the calls, by their numbers.
#[derive(Debug)]
pub(crate) struct Ledger {
    size: Size,
    entries: Mutex<Entries>,
}

#[derive(Debug)]
struct Entries {
    endings: Vec<Option<Ending>>,
    /// How often the calls of each tool ended in each way.
    tally: BTreeMap<(&'static str, Ending), usize>,
    wrong: Vec<String>,
}

impl Ledger {
    pub(crate) fn new(size: Size) -> Self {
        Self {
            size,
            entries: Mutex::new(Entries {
                endings: vec![None; size.calls],
                tally: BTreeMap::new(),
                wrong: Vec::new(),
            }),
        }
    }

    /// Enters the ending of a call; `why` for the report.
    pub(crate) fn enter(&self, nonce: usize, fault: &Fault, ending: Ending, why: &str) {
        let mut entries = self.entries();
        *entries.tally.entry((fault.tool, ending)).or_default() += 1;
        let before = entries.endings[nonce].replace(ending);
        if before.is_some() || !fault.endings.contains(&ending) {
            let tool = fault.tool;
            entries.wrong.push(format!(
                "call {nonce} of {tool}: {ending}, {why} (before: {before:?})"
            ));
        }
    }

    /// Tells how it went.
    pub(crate) fn report(&self, gauges: &[Gauge]) {
        let Size {
            servers,
            calls,
            seed,
        } = self.size;
        let mut report = format!("{calls} calls of {servers} servers, seed {seed}\n");
        for ((tool, ending), count) in &self.entries().tally {
            report.push_str(&format!("  {tool:<14} {ending:<22} {count:>7}\n"));
        }
        for gauge in gauges {
            report.push_str(&format!("  {gauge:?}\n"));
        }
        // What a test prints is shown only when it fails.
        let _ = std::io::stderr().write_all(report.as_bytes());
    }

    /// Each call ended once, as it may, and no server got it twice. `acted_on` are the numbers that servers saw.
    #[track_caller]
    pub(crate) fn check(&self, acted_on: &[u64]) {
        let entries = self.entries();
        assert_eq!(entries.wrong, Vec::<String>::new());
        let mut times = vec![0_usize; entries.endings.len()];
        for nonce in acted_on {
            times[usize::try_from(*nonce).expect("a number of ours")] += 1;
        }
        for (nonce, (ending, times)) in entries.endings.iter().zip(times).enumerate() {
            let ending = ending.unwrap_or(Ending::Lost);
            assert_ne!(ending, Ending::Lost, "call {nonce} never ended");
            assert!(times <= 1, "call {nonce} was sent {times} times");
            let is_answered = ending == Ending::Answered;
            assert!(
                times == 1 || !is_answered,
                "call {nonce} was answered and not sent"
            );
        }
    }

    fn entries(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().expect("nobody panics in between")
    }
}
