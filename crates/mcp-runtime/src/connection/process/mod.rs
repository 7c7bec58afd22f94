//! Ownership of a server's process tree (R6).
//!
//! A child runs in a process group of its own, with its three streams piped. A thread per child is its parent
//! (`parent.rs`); a task per child supervises it: it waits for the end, and on request ends it in stages
//! (`supervise.rs`). Whatever happens to that task or to the executor under it, the [`Tree`](platform::Tree) it holds
//! kills what is left when it goes.
//!
//! Invariant: nobody else's process is ever signalled. The number of a child is its own until its parent collects it,
//! which it does only after the tree was let go; a descendant is signalled through what the system gave for that very
//! process.

mod launch;
mod parent;
mod stderr;
mod supervise;
mod turn;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

use std::fmt;
use std::process::ExitStatus;
use std::sync::Arc;

use mcp_sandbox_meta::EnvironmentLocality;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

pub use launch::SpawnError;
pub(crate) use launch::{Launch, Starting, Streams};
pub(crate) use stderr::StderrTail;
use supervise::Orders;
#[cfg(unix)]
use unix as platform;
#[cfg(windows)]
use windows as platform;

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
    orders: Orders,
    life: watch::Receiver<Life>,
    stderr: StderrTail,
    locality: EnvironmentLocality,
}

/// What is known of a process.
#[derive(Debug, Clone, Copy, Default)]
struct Life {
    /// `None` until it was started, and for good if it never was.
    pid: Option<u32>,
    /// The leader's end.
    exit: Option<Exit>,
    /// Nothing of the tree is left.
    over: bool,
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.orders.stop.cancel();
    }
}

impl Process {
    /// `None` as long as it was not started.
    pub(crate) fn pid(&self) -> Option<u32> {
        self.shared.life.borrow().pid
    }

    /// Asks the process to end, in stages; returns at once.
    pub(crate) fn stop(&self) {
        self.shared.orders.stop.cancel();
    }

    /// Ends the whole tree now, without any more grace; returns at once.
    pub(crate) fn kill(&self) {
        self.shared.orders.stop.cancel();
        self.shared.orders.kill.cancel();
    }

    /// Whether nothing of the tree is left.
    pub(crate) fn is_over(&self) -> bool {
        self.shared.life.borrow().over
    }

    /// How the process ended, if it did.
    pub(crate) fn exit(&self) -> Option<Exit> {
        self.shared.life.borrow().exit
    }

    /// The request to end, for whoever holds the output of the process.
    pub(crate) fn stopping(&self) -> CancellationToken {
        self.shared.orders.stop.clone()
    }

    /// The request to close the input of the process, for whoever holds it. Not before: a process ends with its input, and
    /// then nobody knows any more whose children its children were.
    pub(crate) fn closing(&self) -> CancellationToken {
        self.shared.orders.close.clone()
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
            // The supervisor was dropped with its executor; its tree was killed.
            Err(_) => LOST,
        }
    }

    /// Where the server runs.
    pub(crate) fn locality(&self) -> EnvironmentLocality {
        self.shared.locality
    }

    /// What the process last wrote to its standard error.
    pub(crate) fn stderr(&self) -> &StderrTail {
        &self.shared.stderr
    }
}
