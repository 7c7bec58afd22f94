//! Whoever descends from a process and left its group: known by a variable that all of them inherit.

use std::ffi::OsString;
use std::fs;
use std::hash::{BuildHasher as _, RandomState};
use std::process::Command;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::io::retry_on_intr;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

const VARIABLE: &str = "MCP_LAUNCHER_PROBE";
/// How often to look for those whom somebody started just before being killed.
const ROUNDS: usize = 16;
/// How long a process that was killed may take to go.
const PATIENCE: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 100_000_000,
};

/// What tells the processes of one command from all others.
#[derive(Debug)]
pub(super) struct Mark(String);

impl Mark {
    /// Marks `command` and all that it will start, short of a program that throws its environment away.
    pub(super) fn put(command: &mut Command) -> Self {
        // Random keys, which is all that is wanted of them.
        let value = format!("{:016x}", RandomState::new().hash_one(std::process::id()));
        command.env(VARIABLE, OsString::from(&value));
        Self(format!("{VARIABLE}={value}"))
    }

    /// Kills all who carry the mark, and waits for their end. Where there is no process table, nobody is found.
    pub(super) fn kill_all(&self) {
        for _ in 0..ROUNDS {
            let killed: Vec<_> = processes().filter_map(|pid| self.kill(pid)).collect();
            if killed.is_empty() {
                return;
            }
            for handle in &killed {
                let mut ended = [PollFd::new(handle, PollFlags::IN)];
                let _ = retry_on_intr(|| poll(&mut ended, Some(&PATIENCE)));
            }
        }
    }

    fn kill(&self, pid: Pid) -> Option<OwnedFd> {
        if !self.is_on(pid) {
            return None;
        }
        let handle = pidfd_open(pid, PidfdFlags::empty()).ok()?;
        // The number may have changed hands before it was opened: look again, at whom we hold now.
        if !self.is_on(pid) {
            return None;
        }
        pidfd_send_signal(&handle, Signal::KILL).ok()?;
        Some(handle)
    }

    /// One that has ended carries nothing any more; one of another user cannot be told, nor be signalled.
    fn is_on(&self, pid: Pid) -> bool {
        fs::read(format!("/proc/{}/environ", pid.as_raw_nonzero())).is_ok_and(|environment| {
            environment
                .split(|&byte| byte == 0)
                .any(|variable| variable == self.0.as_bytes())
        })
    }
}

fn processes() -> impl Iterator<Item = Pid> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?))
}
