//! What a scripted server does to and with processes, on Windows; what has no counterpart there is refused.

use std::fs;
use std::io;
use std::path::Path;
use std::process::{self, Command, Stdio};

pub(crate) fn ignore_sigterm() -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(crate) fn kill_self() -> io::Result<()> {
    process::abort()
}

pub(crate) fn close_stdin() -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(crate) fn close_stdout() -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Starts a process that lives for ten minutes. There is no SIGTERM to ignore, and no process group to leave.
pub(crate) fn spawn_grandchild(
    ready: &Path,
    _own_group: bool,
    holds_output: bool,
) -> io::Result<u32> {
    let mut command = Command::new("ping");
    command
        .args(["-n", "600", "127.0.0.1"])
        .stdin(Stdio::null());
    if !holds_output {
        command.stdout(Stdio::null()).stderr(Stdio::null());
    }
    let pid = command.spawn()?.id();
    fs::write(ready, [])?;
    Ok(pid)
}

pub(crate) fn is_alive(pid: u32) -> bool {
    let filter = format!("PID eq {pid}");
    let listed = Command::new("tasklist")
        .args(["/NH", "/FI", &filter])
        .output();
    listed.is_ok_and(|listed| String::from_utf8_lossy(&listed.stdout).contains(&pid.to_string()))
}
