//! What this process holds. Where there is no `/proc`, nothing is known and nothing is checked.

use std::fs;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::time::{Instant, sleep};

/// Memory may grow by so many KiB, whatever the number of calls: buffers of connections that have met a large message.
const GROWTH: u64 = 24 * 1024;
/// And by so many where glibc decides by itself what it gives back, after messages of many megabytes.
const KEPT_BY_GLIBC: u64 = 128 * 1024;
/// Set where it does not.
const TRIMMED: &str = "MALLOC_TRIM_THRESHOLD_";
/// HTTP connections are kept for a while: as many as there were calls under way, each with two ends and their tasks.
const KEPT: usize = 1_000;
/// Nothing tells when the last descriptor is closed.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Threads of blocking work stay for some seconds.
const LINGERING: u64 = 100;
/// How long what has been ended may take to be gone.
const PATIENCE: Duration = Duration::from_secs(60);

/// One look at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Gauge {
    /// Resident memory in KiB.
    pub(crate) memory: u64,
    pub(crate) pipes: usize,
    pub(crate) sockets: usize,
    pub(crate) others: usize,
    pub(crate) threads: u64,
    /// Tasks of the executor.
    pub(crate) tasks: usize,
    /// Child processes, those included that ended and were not waited for.
    pub(crate) children: usize,
}

impl Gauge {
    pub(crate) fn read() -> Self {
        let (pipes, sockets, others) = descriptors();
        Self {
            memory: status("VmRSS:").unwrap_or(0),
            threads: status("Threads:").unwrap_or(0),
            pipes,
            sockets,
            others,
            tasks: Handle::current().metrics().num_alive_tasks(),
            children: children(),
        }
    }

    /// What is held when nobody opens or closes anything.
    pub(crate) async fn steady() -> Self {
        let mut before = Self::read();
        loop {
            sleep(LOOK_EVERY).await;
            let gauge = Self::read();
            if gauge.of_processes() == before.of_processes() {
                return gauge;
            }
            before = gauge;
        }
    }

    /// Waits until there is no more than there is to be, or until it is clear that there will be.
    pub(crate) async fn reached(is_there: impl Fn(&Self) -> bool) -> Self {
        let begun = Instant::now();
        loop {
            let gauge = Self::read();
            if is_there(&gauge) || begun.elapsed() > PATIENCE {
                return gauge;
            }
            sleep(LOOK_EVERY).await;
        }
    }

    /// What there is for the sake of child processes.
    pub(crate) fn of_processes(self) -> [usize; 3] {
        [self.pipes, self.others, self.children]
    }

    /// As many calls later, there is nothing more.
    #[track_caller]
    pub(crate) fn check_flat(self, later: Self) {
        let (now, then) = (later.of_processes(), self.of_processes());
        assert_eq!(now, then, "{self:?} {later:?}");
        assert!(
            later.threads <= self.threads + LINGERING,
            "{self:?} {later:?}"
        );
        let is_trimmed = std::env::var_os(TRIMMED).is_some();
        let growth = if is_trimmed { GROWTH } else { KEPT_BY_GLIBC };
        assert!(
            later.memory <= self.memory + growth,
            "memory grows: {self:?} {later:?}"
        );
        assert!(later.sockets <= self.sockets + KEPT, "{self:?} {later:?}");
        assert!(later.tasks <= self.tasks + KEPT, "{self:?} {later:?}");
    }

    /// In the end, there is nothing that was not there in the beginning.
    pub(crate) async fn check_gone(self) {
        let end = Self::reached(|end| !end.holds_more_than(self)).await;
        assert!(!end.holds_more_than(self), "{self:?} {end:?}");
    }

    fn holds_more_than(self, other: Self) -> bool {
        let held = |gauge: Self| {
            let [pipes, others, children] = gauge.of_processes();
            [pipes, others, children, gauge.sockets, gauge.tasks]
        };
        held(self)
            .iter()
            .zip(held(other))
            .any(|(now, then)| *now > then)
    }
}

fn status(name: &str) -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

fn descriptors() -> (usize, usize, usize) {
    let (mut pipes, mut sockets, mut others) = (0, 0, 0);
    for entry in fs::read_dir("/proc/self/fd")
        .into_iter()
        .flatten()
        .flatten()
    {
        let target = fs::read_link(entry.path()).unwrap_or_default();
        match target.to_string_lossy().split(':').next() {
            Some("pipe") => pipes += 1,
            Some("socket") => sockets += 1,
            _ => others += 1,
        }
    }
    (pipes, sockets, others)
}

fn children() -> usize {
    let own = std::process::id().to_string();
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let is_child = |stat: &String| {
        // The name of a program may be anything, and ends at the last parenthesis.
        let fields = stat.rsplit_once(')').map(|(_, fields)| fields);
        fields.and_then(|fields| fields.split_whitespace().nth(1)) == Some(own.as_str())
    };
    let stats =
        processes.filter_map(|process| fs::read_to_string(process.path().join("stat")).ok());
    stats.filter(is_child).count()
}
