//! Process groups and signals.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
use tokio::process::Command;

/// Variables without which a program does not start here: none beyond the common list.
pub(super) const NEEDED: &[&str] = &[];

/// Whether two names mean the same variable.
pub(super) fn same_variable(one: &str, other: &str) -> bool {
    one == other
}

/// Puts the child into a process group of its own.
pub(super) fn own_group(command: &mut Command) {
    command.process_group(0);
}

/// The signal that ended a process.
pub(super) fn signal(status: ExitStatus) -> Option<i32> {
    status.signal()
}

/// A process group; killed when dropped, unless it was seen empty.
#[derive(Debug)]
pub(super) struct Group {
    /// `None` once empty: from then on the number may belong to somebody else.
    leader: Option<Pid>,
}

impl Group {
    pub(super) fn of_leader(pid: u32) -> Self {
        Self {
            leader: i32::try_from(pid).ok().and_then(Pid::from_raw),
        }
    }

    pub(super) fn is_empty(&mut self) -> bool {
        // Not being allowed to signal somebody means that somebody is there.
        let gone = |leader| test_kill_process_group(leader) == Err(Errno::SRCH);
        if self.leader.is_some_and(gone) {
            self.leader = None;
        }
        self.leader.is_none()
    }

    pub(super) fn terminate(&mut self) {
        self.signal(Signal::TERM);
    }

    pub(super) fn kill(&mut self) {
        self.signal(Signal::KILL);
    }

    fn signal(&mut self, signal: Signal) {
        let gone = |leader| kill_process_group(leader, signal) == Err(Errno::SRCH);
        if self.leader.is_some_and(gone) {
            self.leader = None;
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}
