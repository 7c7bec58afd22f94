//! Process groups, signals, and the end of a child that is not collected yet.

mod mark;
mod tree;

// Who descends from whom is known where there is a process table to read and a handle of a process to hold.
#[cfg(target_os = "linux")]
mod descendant;
#[cfg(target_os = "linux")]
mod process_stat;
#[cfg(not(target_os = "linux"))]
mod unseen;
#[cfg(not(target_os = "linux"))]
use unseen as descendant;

use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus};
use std::sync::mpsc;

use rustix::io::retry_on_intr;
use rustix::process::{Pid, WaitId, WaitIdOptions, WaitIdStatus, waitid};

pub(super) use mark::Mark;
pub(super) use tree::Tree;

/// Variables without which a program does not start here: none beyond the common list.
pub(super) const NEEDED: &[&str] = &[];

/// Whether two names mean the same variable.
pub(super) fn same_variable(one: &str, other: &str) -> bool {
    one == other
}

/// The signal that ended a process.
pub(super) fn signal(status: ExitStatus) -> Option<i32> {
    status.signal()
}

/// The child gets a process group and a mark of its own, and does not outlive the thread that starts it.
pub(super) fn prepare(command: &mut Command) -> Mark {
    command.process_group(0);
    #[cfg(target_os = "linux")]
    die_with_parent(command);
    Mark::put(command)
}

/// The child is killed when the thread that starts it is gone, whatever ended that. A program that changes its user when it
/// is started (setuid) is not; it sees the end of its input, as every child does where there is no such signal.
#[cfg(target_os = "linux")]
#[expect(
    unsafe_code,
    reason = "what runs between fork and exec is for the caller to vouch for"
)]
fn die_with_parent(command: &mut Command) {
    use rustix::io::Errno;
    use rustix::process::{Signal, getpid, getppid, set_parent_process_death_signal};

    let parent = getpid();
    let ask = move || {
        set_parent_process_death_signal(Some(Signal::KILL))?;
        match getppid() {
            // The parent went before the signal was asked for: it will not come.
            Some(other) if other != parent => Err(Errno::SRCH.into()),
            // One without a number is outside of the child's PID namespace.
            _ => Ok(()),
        }
    };
    // SAFETY: the closure runs in the forked child, where locks may be held for ever by threads that are not there, so that it
    // must not take any, nor allocate. It makes two system calls, past the C library, and an error out of a number.
    unsafe {
        command.pre_exec(ask);
    }
}

/// Blocks until the child has ended, and leaves it uncollected: its number, and that of its group, stays its own. `None` when
/// somebody else has collected it.
pub(super) fn ended(child: &mut Child, _held: &mpsc::Receiver<()>) -> Option<ExitStatus> {
    let id = WaitId::Pid(Pid::from_child(child));
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    let status = retry_on_intr(|| waitid(id.clone(), options)).ok()??;
    exit_status(&status)
}

/// As `wait` would have told it.
fn exit_status(status: &WaitIdStatus) -> Option<ExitStatus> {
    const DUMPED: i32 = 0x80;
    if let Some(code) = status.exit_status() {
        return Some(ExitStatus::from_raw((code & 0xff) << 8));
    }
    let dumped = if status.dumped() { DUMPED } else { 0 };
    let signal = status.terminating_signal()?;
    Some(ExitStatus::from_raw(signal | dumped))
}
