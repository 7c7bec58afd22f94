//! What a scripted server does to and with processes, on Unix.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, getpid, kill_process, test_kill_process};
use tokio::signal::unix::{SignalKind, signal};

/// Takes SIGTERM and does nothing.
pub(crate) fn ignore_sigterm() -> io::Result<()> {
    let mut signals = signal(SignalKind::terminate())?;
    tokio::spawn(async move { while signals.recv().await.is_some() {} });
    Ok(())
}

pub(crate) fn kill_self() -> io::Result<()> {
    Ok(kill_process(getpid(), Signal::KILL)?)
}

pub(crate) fn close_stdin() -> io::Result<()> {
    Ok(rustix::stdio::dup2_stdin(File::open("/dev/null")?)?)
}

pub(crate) fn close_stdout() -> io::Result<()> {
    Ok(rustix::stdio::dup2_stdout(
        OpenOptions::new().write(true).open("/dev/null")?,
    )?)
}

/// Starts a process that ignores SIGTERM; it makes the file `ready` once it does.
pub(crate) fn spawn_grandchild(
    ready: &Path,
    own_group: bool,
    holds_output: bool,
) -> io::Result<u32> {
    let mut command = Command::new("sh");
    // An ignored signal stays ignored across exec.
    command
        .args(["-c", "trap '' TERM; : > \"$0\"; exec sleep 600"])
        .arg(ready)
        .stdin(Stdio::null());
    if own_group {
        command.process_group(0);
    }
    if !holds_output {
        command.stdout(Stdio::null()).stderr(Stdio::null());
    }
    Ok(command.spawn()?.id())
}

pub(crate) fn is_alive(pid: u32) -> bool {
    let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) else {
        return false;
    };
    test_kill_process(pid).is_ok() && !is_zombie(pid)
}

/// On systems without /proc an uncollected process counts as alive.
fn is_zombie(pid: Pid) -> bool {
    // pid (name) state ...: the name may hold anything, parentheses included.
    let stat =
        fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).unwrap_or_default();
    stat.rsplit_once(") ")
        .is_some_and(|(_, rest)| rest.starts_with(['Z', 'X']))
}
