//! What the operating system says that this process has.

use std::fs;
use std::path::Path;
use std::process;
use std::time::Duration;

use tokio::time::{Instant, sleep};

/// How long what is on its way out may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// What a process has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Census {
    /// Those that have ended and were not collected included.
    pub(super) children: Vec<u32>,
    pub(super) threads: usize,
    pub(super) descriptors: usize,
}

impl Census {
    pub(super) fn take() -> Self {
        let count = |directory| fs::read_dir(directory).expect("a process table").count();
        Self {
            children: children(),
            threads: count("/proc/self/task"),
            descriptors: count("/proc/self/fd"),
        }
    }

    /// Waits until this process has no more than this again.
    #[track_caller]
    pub(super) fn expect_again(&self) -> impl Future<Output = ()> {
        let at = std::panic::Location::caller();
        async move {
            let deadline = Instant::now() + PATIENCE;
            let mut now = Self::take();
            while now != *self {
                assert!(
                    Instant::now() < deadline,
                    "it does not become {self:?}, it is {now:?}\n  expected at {at}"
                );
                sleep(Duration::from_millis(5)).await;
                now = Self::take();
            }
        }
    }
}

/// The processes whose parent this one is.
pub(super) fn children() -> Vec<u32> {
    let entries = fs::read_dir("/proc").expect("a process table").flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let mine = |pid: &u32| Stat::read(*pid).is_some_and(|stat| stat.parent == process::id());
    pids.filter(mine).collect()
}

/// Whether a process runs. One that has ended and was not collected does not.
pub(super) fn is_alive(pid: u32) -> bool {
    Stat::read(pid).is_some_and(|stat| !stat.ended)
}

/// The process number that somebody wrote to a file.
pub(super) fn pid_in(file: &Path) -> u32 {
    let text = fs::read_to_string(file).expect("a file with a number");
    text.trim().parse().expect("a number")
}

struct Stat {
    parent: u32,
    ended: bool,
}

impl Stat {
    fn read(pid: u32) -> Option<Self> {
        // pid (name) state parent ..: the name may hold anything.
        let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
        let stat = String::from_utf8_lossy(&stat).into_owned();
        let mut fields = stat.rsplit_once(") ")?.1.split(' ');
        let ended = matches!(fields.next()?, "Z" | "X");
        let parent = fields.next()?.parse().ok()?;
        Some(Self { parent, ended })
    }
}
