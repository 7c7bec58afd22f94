//! The thread that is a child's parent: it starts the child, waits for its end, and collects it (R6).
//!
//! Every child has one of its own, because
//! - a child asks to die with its parent, and that is the *thread* that started it. Threads of a pool retire;
//! - starting a program blocks for as long as the file system under it does, and may hold up nobody else;
//! - no executor is needed to collect a child, so that none is left uncollected by one that went first.

use std::io;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, ExitStatus};
use std::sync::mpsc;
use std::thread;

use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::SpawnError;
use super::platform::{self, Mark, Tree};
use super::turn::Turn;

/// Bytes. All that happens here is to start one program and to wait.
const STACK: usize = 256 * 1024;

/// What the thread waits for before it collects the child: that the other end is dropped. A message asks to kill the
/// child, where only its parent can.
pub(super) type Hold = mpsc::SyncSender<()>;

/// A child that was started.
#[derive(Debug)]
pub(super) struct Born {
    pub(super) pid: u32,
    pub(super) tree: Tree,
    pub(super) stdin: ChildStdin,
    pub(super) stdout: ChildStdout,
    pub(super) stderr: ChildStderr,
    /// The end of the child, which is not collected yet; how it ended, where that can be known.
    pub(super) ended: oneshot::Receiver<Option<ExitStatus>>,
    /// Fails once the child was collected.
    pub(super) collected: oneshot::Receiver<()>,
}

/// What becomes of an attempt to start a child.
pub(super) type Birth = oneshot::Receiver<Result<Born, SpawnError>>;

/// Starts a child on a new thread, unless `given_up` comes first. When nobody is there to take it over, it is killed.
///
/// # Errors
///
/// When there can be no more threads.
pub(super) fn bear(
    start: impl FnOnce() -> Result<(Child, Mark), SpawnError> + Send + 'static,
    given_up: CancellationToken,
) -> io::Result<Birth> {
    let (deliver, birth) = oneshot::channel();
    thread::Builder::new()
        .name("mcp-server-parent".to_owned())
        .stack_size(STACK)
        .spawn(move || raise(start, deliver, &given_up))?;
    Ok(birth)
}

fn raise(
    start: impl FnOnce() -> Result<(Child, Mark), SpawnError>,
    deliver: oneshot::Sender<Result<Born, SpawnError>>,
    given_up: &CancellationToken,
) {
    let Some(turn) = Turn::wait(given_up) else {
        return;
    };
    let started = start();
    drop(turn);
    let (mut child, mark) = match started {
        Ok(started) => started,
        Err(error) => {
            // Nobody there any more wants to know.
            let _ = deliver.send(Err(error));
            return;
        }
    };
    let (hold, held) = mpsc::sync_channel(1);
    let (report, ended) = oneshot::channel();
    let (_collected, collected) = oneshot::channel();
    let born = Born {
        pid: child.id(),
        tree: Tree::of(&child, mark, hold),
        stdin: child.stdin.take().expect("stdin is piped"),
        stdout: child.stdout.take().expect("stdout is piped"),
        stderr: child.stderr.take().expect("stderr is piped"),
        ended,
        collected,
    };
    // Dropped when there is nobody to take it, its tree included, which kills the child.
    let _ = deliver.send(Ok(born));
    // Whoever does not want to know has let the tree go.
    let _ = report.send(platform::ended(&mut child, &held));
    while held.recv().is_ok() {}
    // It has ended, or somebody else has collected it: this does not block.
    let _ = child.wait();
}
