//! One process that is being asked, shared by everybody who waits for its answer.

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, timeout, timeout_at};

use super::failure::ProbeFailure;
use super::{LauncherProbe, platform::ProcessTree};

pub(super) type Verdict = Result<(), ProbeFailure>;

/// How long those who were killed may take to go, before the answer is given all the same.
const GRACE: Duration = Duration::from_millis(250);

/// A running probe. It belongs to those who wait for it: when the last of them goes, so do its processes.
#[derive(Debug)]
pub(super) struct Flight {
    tree: Arc<ProcessTree>,
    landed: watch::Receiver<Option<Verdict>>,
    deadline: Instant,
}

impl Flight {
    /// Starts the process in a thread of its own, which stays until it has ended and was waited for. A thread, so that
    /// neither depends on an executor: one that is shut down would leave a zombie, or wait for a process that hangs.
    pub(super) fn begin(executable: &Path) -> Result<Self, ProbeFailure> {
        let (report, landed) = watch::channel(None);
        let tree = Arc::new(ProcessTree::default());
        let flight = Self {
            tree: Arc::clone(&tree),
            landed,
            deadline: Instant::now() + LauncherProbe::TIME_LIMIT,
        };
        let command = question(executable);
        thread::Builder::new()
            .name("launcher-probe".to_owned())
            .spawn(move || report.send_replace(Some(verdict(tree.run(command)))))
            .map_err(|source| ProbeFailure::Start(Arc::new(source)))?;
        Ok(flight)
    }

    /// Waits for the answer until the deadline, and then for the end of whoever gave none. Cancel-safe.
    pub(super) async fn verdict(&self) -> Verdict {
        let mut landed = self.landed.clone();
        let in_time = timeout_at(self.deadline, landed.wait_for(Option::is_some))
            .await
            .is_ok();
        if !in_time {
            self.tree.kill();
            let _ = timeout(GRACE, landed.wait_for(Option::is_some)).await;
            return Err(ProbeFailure::TimedOut);
        }
        let verdict = landed.borrow().clone();
        // None: the thread is gone without a word.
        verdict.unwrap_or(Err(ProbeFailure::TimedOut))
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        self.tree.kill();
    }
}

fn question(executable: &Path) -> Command {
    let mut command = Command::new(executable);
    command
        .args(["sandbox", "--sandbox-state-json", "{}", "--help"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

fn verdict(ended: io::Result<Option<std::process::ExitStatus>>) -> Verdict {
    match ended {
        Ok(Some(status)) if status.success() => Ok(()),
        Ok(Some(status)) => Err(ProbeFailure::Refused { status }),
        // We killed it, and while somebody waits that is for one reason.
        Ok(None) => Err(ProbeFailure::TimedOut),
        Err(source) => Err(ProbeFailure::Start(Arc::new(source))),
    }
}
