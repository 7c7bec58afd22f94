//! Ownership of a server's process tree (R6).
//!
//! A child runs in a process group of its own, with its three streams piped. One task per child supervises it: it
//! waits for the end, and on request ends it in stages. Whatever happens to that task or to the executor under it,
//! the guard it holds kills the group when it goes.
//!
//! Invariant: the group is signalled only by the guard that `spawn` made for it, and never after it was seen empty.

mod launch;
mod stderr;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

use std::fmt;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use tokio::process::Child;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

pub use launch::SpawnError;
pub(crate) use launch::{Launch, Started};
pub(crate) use stderr::StderrTail;
#[cfg(unix)]
use unix as platform;
#[cfg(windows)]
use windows as platform;

/// How long a child gets to end by itself once its standard input is closed.
const CLOSED_INPUT_GRACE: Duration = Duration::from_millis(1_500);
/// How long the group gets to end after it was asked to terminate.
const TERMINATE_GRACE: Duration = Duration::from_millis(1_000);
/// How long to look for the end of a group that was killed.
const KILL_GRACE: Duration = Duration::from_millis(1_000);
/// How often a group without its leader is looked at. There is nothing to wait on for somebody else's children.
const GROUP_POLL: Duration = Duration::from_millis(10);

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exit {
    status: Option<ExitStatus>,
    killed: bool,
}

impl Exit {
    /// Whether something of the process tree had to be killed.
    #[must_use]
    pub fn killed(&self) -> bool {
        self.killed
    }

    /// The exit status, where the operating system gave one.
    #[must_use]
    pub fn status(&self) -> Option<ExitStatus> {
        self.status
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.status {
            Some(status) => match platform::signal(status) {
                Some(signal) => write!(f, "was ended by signal {signal}"),
                None => write!(f, "exited with status {}", status.code().unwrap_or(-1)),
            },
            None => f.write_str("ended with an unknown status"),
        }
    }
}

/// A running process tree. Dropping every clone ends it.
#[derive(Debug, Clone)]
pub(crate) struct Process {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    pid: u32,
    stop: CancellationToken,
    kill: CancellationToken,
    life: watch::Receiver<Life>,
    stderr: StderrTail,
}

/// What is known of a process.
#[derive(Debug, Clone, Copy, Default)]
struct Life {
    /// The leader's end.
    exit: Option<Exit>,
    /// Nothing of the tree is left.
    over: bool,
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

impl Process {
    pub(crate) fn pid(&self) -> u32 {
        self.shared.pid
    }

    /// Asks the process to end, in stages; returns at once.
    pub(crate) fn stop(&self) {
        self.shared.stop.cancel();
    }

    /// Ends the whole tree now, without any more grace; returns at once.
    pub(crate) fn kill(&self) {
        self.shared.stop.cancel();
        self.shared.kill.cancel();
    }

    /// Whether nothing of the tree is left.
    pub(crate) fn is_over(&self) -> bool {
        self.shared.life.borrow().over
    }

    /// How the process ended, if it did.
    pub(crate) fn exit(&self) -> Option<Exit> {
        self.shared.life.borrow().exit
    }

    /// The request to end, for whoever holds a stream of the process.
    pub(crate) fn stopping(&self) -> CancellationToken {
        self.shared.stop.clone()
    }

    /// Waits for the end of the process itself; descendants may live on for a moment. Cancel-safe.
    pub(crate) async fn leader_exited(&self) -> Exit {
        self.reached(|life| life.exit.is_some()).await
    }

    /// Waits for the end of the whole tree. Cancel-safe.
    pub(crate) async fn ended(&self) -> Exit {
        self.reached(|life| life.over).await
    }

    async fn reached(&self, state: impl FnMut(&Life) -> bool) -> Exit {
        const LOST: Exit = Exit {
            status: None,
            killed: true,
        };
        match self.shared.life.clone().wait_for(state).await {
            Ok(life) => life.exit.unwrap_or(LOST),
            // The supervisor was dropped with its executor; its guard has killed the group.
            Err(_) => LOST,
        }
    }

    /// What the process last wrote to its standard error.
    pub(crate) fn stderr(&self) -> &StderrTail {
        &self.shared.stderr
    }
}

/// Owns the child until its whole group is gone.
async fn supervise(
    mut child: Child,
    mut group: platform::Group,
    stop: CancellationToken,
    kill: CancellationToken,
    report: watch::Sender<Life>,
) {
    let (status, killed) = tokio::select! {
        status = child.wait() => (status.ok(), false),
        () = stop.cancelled() => end_leader(&mut child, &mut group, &kill).await,
    };
    report.send_replace(Life {
        exit: Some(Exit { status, killed }),
        over: false,
    });
    let killed = end_group(&mut group, &kill).await || killed;
    report.send_replace(Life {
        exit: Some(Exit { status, killed }),
        over: true,
    });
}

/// Closed input, then terminate, then kill, with a grace period each. The input is closed by whoever holds it.
async fn end_leader(
    child: &mut Child,
    group: &mut platform::Group,
    kill: &CancellationToken,
) -> (Option<ExitStatus>, bool) {
    if let Some(status) = grace(CLOSED_INPUT_GRACE, kill, child.wait()).await {
        return (status.ok(), false);
    }
    group.terminate();
    if let Some(status) = grace(TERMINATE_GRACE, kill, child.wait()).await {
        return (status.ok(), false);
    }
    group.kill();
    // The leader itself, where a group is no more than a name or the leader has left it. It may have ended meanwhile.
    let _ = child.start_kill();
    (
        timeout(KILL_GRACE, child.wait())
            .await
            .ok()
            .and_then(Result::ok),
        true,
    )
}

/// Ends what the leader left behind; `true` when something had to be killed.
async fn end_group(group: &mut platform::Group, kill: &CancellationToken) -> bool {
    if group.is_empty() {
        return false;
    }
    group.terminate();
    if grace(TERMINATE_GRACE, kill, emptied(group)).await.is_some() {
        return false;
    }
    group.kill();
    // A process that the operating system cannot end is out of anyone's hands.
    let _ = timeout(KILL_GRACE, emptied(group)).await;
    true
}

/// What `future` comes to within the grace period, unless there is no more grace.
async fn grace<F: Future>(
    period: Duration,
    kill: &CancellationToken,
    future: F,
) -> Option<F::Output> {
    tokio::select! {
        output = future => Some(output),
        () = sleep(period) => None,
        () = kill.cancelled() => None,
    }
}

async fn emptied(group: &mut platform::Group) {
    while !group.is_empty() {
        sleep(GROUP_POLL).await;
    }
}
