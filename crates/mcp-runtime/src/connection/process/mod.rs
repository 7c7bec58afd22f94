//! Ownership of a server's process tree (R6).
//!
//! A child runs in a process group of its own, with its three streams piped. One task per child supervises it: it
//! waits for the end, and on request ends it in stages. Whatever happens to that task or to the executor under it,
//! the guard it holds kills the group when it goes.
//!
//! Invariant: the group is signalled only by the guard that `spawn` made for it, and never after it was seen empty.

mod stderr;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use mcp_keys::McpServerKey;
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

pub(crate) use stderr::StderrTail;
#[cfg(unix)]
use unix as platform;
#[cfg(windows)]
use windows as platform;

use crate::config::{Secret, StdioTransport};

/// How long a child gets to end by itself once its standard input is closed.
const CLOSED_INPUT_GRACE: Duration = Duration::from_millis(1_500);
/// How long the group gets to end after it was asked to terminate.
const TERMINATE_GRACE: Duration = Duration::from_millis(1_000);
/// How long to look for the end of a group that was killed.
const KILL_GRACE: Duration = Duration::from_millis(1_000);
/// How often a group without its leader is looked at. There is nothing to wait on for somebody else's children.
const GROUP_POLL: Duration = Duration::from_millis(10);

/// Variables a child inherits; everything else must be configured (R6).
const INHERITED: &[&str] = &[
    "HOME", "LANG", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER",
];
/// Prefix of the locale variables, inherited as well.
const INHERITED_PREFIX: &str = "LC_";

/// What to run.
#[derive(Clone)]
pub(crate) struct Launch {
    pub(crate) program: String,
    pub(crate) args: Vec<String>,
    pub(crate) env: Vec<(String, Secret)>,
    pub(crate) env_passed: Vec<String>,
    pub(crate) cwd: Option<PathBuf>,
}

/// Why a process could not be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SpawnError {
    /// The working directory does not exist or is no directory.
    #[error("working directory `{}` is not a directory; create it or change `cwd`", .path.display())]
    WorkingDirectory {
        /// The configured directory.
        path: PathBuf,
    },
    /// There is no such program.
    #[error("command `{program}` was not found; {}", advice(.program))]
    NotFound {
        /// The configured command.
        program: String,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// The operating system refused.
    #[error("command `{program}` could not be started")]
    Refused {
        /// The configured command.
        program: String,
        /// What the operating system said.
        source: std::io::Error,
    },
}

/// What most likely is wrong with a command that is not there.
fn advice(program: &str) -> &'static str {
    if program.contains(' ') {
        "give its arguments as `args`, not as part of `command`"
    } else {
        "install it, or give its full path as `command`"
    }
}

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

/// A process that was just started: its streams, and the handle that owns it.
#[derive(Debug)]
pub(crate) struct Started {
    pub(crate) stdin: ChildStdin,
    pub(crate) stdout: ChildStdout,
    pub(crate) process: Process,
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

impl Launch {
    /// `cwd` is used where the configuration names none.
    pub(crate) fn new(stdio: &StdioTransport, cwd: Option<&Path>) -> Self {
        Self {
            program: stdio.command.clone(),
            args: stdio.args.clone(),
            env: stdio.env.clone(),
            env_passed: stdio.env_vars.clone(),
            cwd: stdio.cwd.clone().or_else(|| cwd.map(Path::to_owned)),
        }
    }

    /// Starts the process. Must be called within a tokio runtime.
    pub(crate) fn start(&self, server: &McpServerKey) -> Result<Started, SpawnError> {
        if let Some(path) = self.cwd.as_ref().filter(|path| !path.is_dir()) {
            return Err(SpawnError::WorkingDirectory { path: path.clone() });
        }
        let mut command = self.command();
        let mut child = command.spawn().map_err(|source| {
            let program = self.program.clone();
            match source.kind() {
                std::io::ErrorKind::NotFound => SpawnError::NotFound { program, source },
                _ => SpawnError::Refused { program, source },
            }
        })?;
        let pid = child.id().expect("a child that was not awaited has an id");
        let group = platform::Group::of_leader(pid);
        let stdin = child.stdin.take().expect("stdin is piped");
        let stdout = child.stdout.take().expect("stdout is piped");
        let stderr = StderrTail::follow(server, child.stderr.take().expect("stderr is piped"));
        let (stop, kill) = (CancellationToken::new(), CancellationToken::new());
        let (report, life) = watch::channel(Life::default());
        tokio::spawn(supervise(child, group, stop.clone(), kill.clone(), report));
        let shared = Shared {
            pid,
            stop,
            kill,
            life,
            stderr,
        };
        Ok(Started {
            stdin,
            stdout,
            process: Process {
                shared: Arc::new(shared),
            },
        })
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(&self.args)
            .env_clear()
            .envs(self.environment());
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if let Some(cwd) = &self.cwd {
            command.current_dir(cwd);
        }
        command.kill_on_drop(true);
        platform::own_group(&mut command);
        command
    }

    /// The variables the child sees. What is configured wins over what is inherited.
    pub(crate) fn environment(&self) -> Vec<(OsString, OsString)> {
        let named = |name: &str| {
            let is = |other: &str| platform::same_variable(name, other);
            let listed = INHERITED
                .iter()
                .chain(platform::NEEDED)
                .any(|other| is(other));
            listed
                || name.starts_with(INHERITED_PREFIX)
                || self.env_passed.iter().any(|other| is(other))
        };
        // A name that is not UTF-8 cannot be configured, and none of the list is.
        let inherited = std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(named));
        let set = self.env.iter();
        let set = set.map(|(name, value)| (name.into(), value.reveal().into()));
        inherited.chain(set).collect()
    }
}

impl fmt::Debug for Launch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Arguments and values may be secrets.
        f.debug_struct("Launch")
            .field("program", &self.program)
            .finish_non_exhaustive()
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
