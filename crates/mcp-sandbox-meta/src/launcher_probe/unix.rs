//! Who a file is, and a process that leaves nothing behind.

#[cfg(target_os = "linux")]
mod marked;
#[cfg(not(target_os = "linux"))]
mod unmarked;

use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitIdStatus, kill_process_group, waitid,
};

use super::failure::ProbeFailure;
#[cfg(target_os = "linux")]
use marked::Mark;
#[cfg(not(target_os = "linux"))]
use unmarked::Mark;

/// What changes when a file is written or replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FileIdentity {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl FileIdentity {
    /// Of the file that `path` leads to, through symbolic links.
    pub(super) fn of(path: &Path) -> Result<Self, ProbeFailure> {
        let file =
            std::fs::metadata(path).map_err(|source| ProbeFailure::File(Arc::new(source)))?;
        Ok(Self {
            device: file.dev(),
            inode: file.ino(),
            size: file.size(),
            modified: (file.mtime(), file.mtime_nsec()),
            changed: (file.ctime(), file.ctime_nsec()),
        })
    }
}

/// A process and all that it starts, run by one thread and killed by any.
#[derive(Debug, Default)]
pub(super) struct ProcessTree {
    life: Mutex<Life>,
}

#[derive(Debug, Default)]
struct Life {
    /// The leader, from its start until it is waited for: as long as the number cannot be anybody else's.
    leader: Option<Pid>,
    killed: bool,
}

impl ProcessTree {
    /// Runs `command` in a group of its own, waits for its end, and kills what it leaves behind, in the group and outside.
    ///
    /// `None` when [`kill`](Self::kill) came first.
    pub(super) fn run(&self, mut command: Command) -> io::Result<Option<ExitStatus>> {
        command.process_group(0);
        let mark = Mark::put(&mut command);
        if self.life().killed {
            return Ok(None);
        }
        let mut child = command.spawn()?;
        let leader = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        {
            let mut life = self.life();
            life.leader = leader;
            if life.killed {
                life.kill_group();
            }
        }
        let ended = leader.map_or(Ok(None), wait_without_reaping);
        let killed = {
            let mut life = self.life();
            // The leader is still in the table of processes, so the group is still ours.
            if ended.is_ok() {
                life.kill_group();
            }
            life.leader = None;
            life.killed
        };
        mark.kill_all();
        let status = child.wait()?;
        Ok((!killed).then_some(status))
    }

    /// Kills the group, now or as soon as there is one.
    pub(super) fn kill(&self) {
        let mut life = self.life();
        life.killed = true;
        life.kill_group();
    }

    fn life(&self) -> MutexGuard<'_, Life> {
        // Its parts are valid in any combination.
        self.life.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Life {
    fn kill_group(&self) {
        if let Some(leader) = self.leader {
            // Nobody left to kill is what was asked for.
            let _ = kill_process_group(leader, Signal::KILL);
        }
    }
}

fn wait_without_reaping(leader: Pid) -> Result<Option<WaitIdStatus>, Errno> {
    loop {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        match waitid(WaitId::Pid(leader), options) {
            Err(Errno::INTR) => {}
            ended => return ended,
        }
    }
}
