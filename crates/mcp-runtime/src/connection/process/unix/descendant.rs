//! Who descends from a process, and a hold of each.

use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::io::{Errno, retry_on_intr};
use rustix::process::{Pid, PidfdFlags, Signal, getpid, pidfd_open, pidfd_send_signal};

use super::mark::{Mark, Marks};
use super::process_stat::ProcessStat;

/// Every process there is, one after the other.
pub(super) type Table = Vec<Entry>;

/// What is to be known of a process from outside.
#[derive(Debug)]
pub(super) struct Entry {
    stat: ProcessStat,
    marks: Marks,
}

impl Entry {
    #[cfg(test)]
    pub(super) fn pid(&self) -> Pid {
        self.stat.pid
    }

    /// `None` when there is no such process.
    fn read(pid: Pid) -> Option<Self> {
        let stat = ProcessStat::read(pid)?;
        let marks = Marks::read(pid);
        Some(Self { stat, marks })
    }
}

/// A process that was seen to descend from another. Its number may have gone to somebody else; this has not.
#[derive(Debug)]
pub(super) struct Descendant {
    pid: Pid,
    group: Option<Pid>,
    handle: OwnedFd,
}

impl Descendant {
    /// `None` when the process is gone.
    pub(super) fn hold(stat: &ProcessStat) -> Result<Option<Self>, Errno> {
        let handle = match pidfd_open(stat.pid, PidfdFlags::empty()) {
            Ok(handle) => handle,
            Err(Errno::SRCH) => return Ok(None),
            Err(error) => return Err(error),
        };
        let held = Self {
            pid: stat.pid,
            group: stat.group,
            handle,
        };
        // The number may have changed hands before it was opened. Read after that, it cannot belong to anybody but who is held.
        let same = ProcessStat::read(stat.pid).is_some_and(|now| now.began == stat.began);
        Ok((same && held.is_alive()).then_some(held))
    }

    #[cfg(test)]
    pub(super) fn pid(&self) -> Pid {
        self.pid
    }

    /// Whether it runs. One that has ended and was not collected does not.
    pub(super) fn is_alive(&self) -> bool {
        let mut handle = [PollFd::new(&self.handle, PollFlags::IN)];
        let now = Timespec::default();
        // What cannot be looked at counts as alive: a signal to it harms nobody else.
        retry_on_intr(|| poll(&mut handle, Some(&now))) != Ok(1)
    }

    /// Whether it was in that process group when it was first seen.
    pub(super) fn is_in(&self, group: Pid) -> bool {
        self.group == Some(group)
    }

    pub(super) fn signal(&self, signal: Signal) {
        // It has ended, or is somebody else's to signal.
        let _ = pidfd_send_signal(&self.handle, signal);
    }
}

/// Adds to `known` who else descends from `leader` or carries `mark`, and takes out who is gone; how many were added. Without
/// a leader whose number is its own, that are those who carry the mark, and the descendants of those who are known.
///
/// # Errors
///
/// When somebody is there who cannot be held.
pub(super) fn find(
    leader: Option<Pid>,
    mark: &Mark,
    table: &Table,
    known: &mut Vec<Descendant>,
) -> Result<usize, Errno> {
    // Whoever is alive after the table was read had its number all the time, so that the table's word of its children holds.
    known.retain(Descendant::is_alive);
    let mut ancestors: Vec<Pid> = known.iter().map(|known| known.pid).chain(leader).collect();
    let before = known.len();
    let mut refused = None;
    let mut take = |stat: &ProcessStat, ancestors: &mut Vec<Pid>| {
        let is_known = known.iter().any(|known| known.pid == stat.pid);
        if is_known || Some(stat.pid) == leader {
            return;
        }
        match Descendant::hold(stat) {
            Ok(Some(descendant)) => {
                ancestors.push(descendant.pid);
                known.push(descendant);
            }
            Ok(None) => {}
            Err(error) => refused = Some(error),
        }
    };
    // Whatever became of those who started them.
    for entry in table.iter().filter(|entry| entry.marks.contain(mark)) {
        take(&entry.stat, &mut ancestors);
    }
    while let Some(ancestor) = ancestors.pop() {
        for entry in table.iter().filter(|entry| entry.stat.follows(ancestor)) {
            take(&entry.stat, &mut ancestors);
        }
    }
    refused.map_or(Ok(known.len() - before), Err)
}

/// The process table as it is now, or `None` where there is none of the processes this one knows by number. Blocks for as long as it
/// takes to read two small files for each process; many who ask at once are served by few readings.
pub(super) fn read_table() -> Option<Arc<Table>> {
    /// How many readings have begun.
    static BEGUN: AtomicU64 = AtomicU64::new(0);
    /// The last reading, and which one it was.
    static LAST: Mutex<(u64, Weak<Table>)> = Mutex::new((0, Weak::new()));

    let asked = BEGUN.load(Ordering::SeqCst);
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    // One that began after the question is as good as an own one.
    if last.0 > asked
        && let Some(table) = last.1.upgrade()
    {
        return Some(table);
    }
    let number = BEGUN.fetch_add(1, Ordering::SeqCst) + 1;
    let table = read_anew()?;
    *last = (number, Arc::downgrade(&table));
    Some(table)
}

fn read_anew() -> Option<Arc<Table>> {
    // A table of another PID namespace has other numbers.
    let me = fs::read_link("/proc/self").ok()?;
    let number = |name: &std::ffi::OsStr| Pid::from_raw(name.to_str()?.parse().ok()?);
    if number(me.as_os_str()) != Some(getpid()) {
        return None;
    }
    let names = fs::read_dir("/proc").ok()?.flatten();
    let pids = names.filter_map(|entry| number(&entry.file_name()));
    Some(Arc::new(pids.filter_map(Entry::read).collect()))
}
