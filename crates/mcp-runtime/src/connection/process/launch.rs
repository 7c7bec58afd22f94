//! What to run, and how it is started (R6).

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use mcp_keys::McpServerKey;
use mcp_sandbox_meta::EnvironmentLocality;
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::{oneshot, watch};
use tokio_util::sync::DropGuard;

use super::platform::Mark;
use super::stderr::StderrTail;
use super::supervise::{Delivery, Orders, supervise};
use super::{Life, Process, Shared, parent, platform};
use crate::config::Secret;

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
    /// Where the server runs (S4): here, or behind what is run here.
    pub(crate) locality: EnvironmentLocality,
}

/// A process that is being started. Dropped before it is, the process is ended as soon as it is there.
#[derive(Debug)]
pub(crate) struct Starting {
    program: String,
    process: Process,
    streams: oneshot::Receiver<Result<Streams, SpawnError>>,
    given_up: DropGuard,
}

/// What a process reads and writes.
#[derive(Debug)]
pub(crate) struct Streams {
    pub(crate) stdin: ChildStdin,
    pub(crate) stdout: ChildStdout,
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
        source: io::Error,
    },
    /// There is no such program as an environment's executor begins with.
    #[error(
        "the executor's command `{program}` was not found; install it, or give its full path in `argv`"
    )]
    ExecutorNotFound {
        /// The program of the executor.
        program: String,
        /// What the operating system said.
        source: io::Error,
    },
    /// The operating system refused.
    #[error("command `{program}` could not be started")]
    Refused {
        /// The configured command.
        program: String,
        /// What the operating system said.
        source: io::Error,
    },
}

impl Launch {
    /// Begins to start the process, on a thread of its own. Must be called within a tokio runtime.
    pub(crate) fn begin(&self, server: &McpServerKey) -> Starting {
        let (stderr, reader) = StderrTail::new(server);
        let orders = Orders::default();
        let (report, life) = watch::channel(Life::default());
        let (deliver, streams) = oneshot::channel();
        let (start, refused) = (self.starter(), self.refusal());
        tokio::spawn(supervise(
            parent::bear(start, orders.stop.clone()).map_err(refused),
            Delivery {
                program: self.program.clone(),
                deliver,
                reader,
            },
            orders.clone(),
            report,
        ));
        Starting {
            program: self.program.clone(),
            streams,
            given_up: orders.stop.clone().drop_guard(),
            process: Process {
                shared: Arc::new(Shared {
                    orders,
                    life,
                    stderr,
                    locality: self.locality,
                }),
            },
        }
    }

    /// What starts the process: it blocks for as long as the file systems under program and directory do.
    fn starter(&self) -> impl FnOnce() -> Result<(Child, Mark), SpawnError> + Send + 'static {
        let ((mut command, mark), cwd, refused) =
            (self.command(), self.cwd.clone(), self.refusal());
        move || match cwd.filter(|path| !path.is_dir()) {
            Some(path) => Err(SpawnError::WorkingDirectory { path }),
            None => Ok((command.spawn().map_err(refused)?, mark)),
        }
    }

    fn refusal(&self) -> impl FnOnce(io::Error) -> SpawnError + Send + 'static {
        let (program, locality) = (self.program.clone(), self.locality);
        let is_local = locality == EnvironmentLocality::Local;
        move |source| match source.kind() {
            io::ErrorKind::NotFound if is_local => SpawnError::NotFound { program, source },
            io::ErrorKind::NotFound => SpawnError::ExecutorNotFound { program, source },
            _ => SpawnError::Refused { program, source },
        }
    }

    fn command(&self) -> (Command, Mark) {
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
        let mark = platform::prepare(&mut command);
        (command, mark)
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

impl Starting {
    /// The process, before anybody knows whether there will be one.
    pub(crate) fn process(&self) -> &Process {
        &self.process
    }

    /// Waits until the process runs.
    pub(crate) async fn started(self) -> Result<(Streams, Process), SpawnError> {
        let program = self.program;
        let streams = self.streams.await.unwrap_or_else(|_gone| {
            // The supervisor went with its executor, and has ended what there was.
            let source = io::Error::from(io::ErrorKind::Interrupted);
            Err(SpawnError::Refused { program, source })
        })?;
        self.given_up.disarm();
        Ok((streams, self.process))
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

/// What most likely is wrong with a command that is not there.
fn advice(program: &str) -> &'static str {
    if program.contains(' ') {
        "give its arguments as `args`, not as part of `command`"
    } else {
        "install it, or give its full path as `command`"
    }
}
