//! Who a file is, and a process that is ended by its handle.

use std::io;
use std::os::windows::fs::MetadataExt as _;
use std::os::windows::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::failure::ProbeFailure;

/// How often the process is looked at: the standard library cannot wait for an end and for a wish at once.
const POLL: Duration = Duration::from_millis(10);

/// What changes when a file is written or replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FileIdentity {
    size: u64,
    created: u64,
    written: u64,
}

impl FileIdentity {
    /// Of the file that `path` leads to, through symbolic links.
    pub(super) fn of(path: &Path) -> Result<Self, ProbeFailure> {
        let file =
            std::fs::metadata(path).map_err(|source| ProbeFailure::File(Arc::new(source)))?;
        Ok(Self {
            size: file.file_size(),
            created: file.creation_time(),
            written: file.last_write_time(),
        })
    }
}

/// A process, run by one thread and killed by any. What it starts itself is not found here.
#[derive(Debug, Default)]
pub(super) struct ProcessTree {
    killed: Mutex<bool>,
    wish: Condvar,
}

impl ProcessTree {
    /// Runs `command` and waits for its end. `None` when [`kill`](Self::kill) came first.
    pub(super) fn run(&self, mut command: Command) -> io::Result<Option<ExitStatus>> {
        const CREATE_NEW_PROCESS_GROUP: u32 = 0x0000_0200;
        command.creation_flags(CREATE_NEW_PROCESS_GROUP);
        let mut child = command.spawn()?;
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(Some(status));
            }
            let wish = self.wish.wait_timeout(self.killed(), POLL);
            let (killed, _) = wish.unwrap_or_else(PoisonError::into_inner);
            if *killed {
                drop(killed);
                child.kill()?;
                child.wait()?;
                return Ok(None);
            }
        }
    }

    /// Ends the process, now or as soon as there is one.
    pub(super) fn kill(&self) {
        *self.killed() = true;
        self.wish.notify_all();
    }

    fn killed(&self) -> MutexGuard<'_, bool> {
        // A flag is valid in any state.
        self.killed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
