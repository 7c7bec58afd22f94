//! What to run, and how it is started (R6).

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;

use mcp_keys::McpServerKey;
use tokio::process::{ChildStdin, ChildStdout, Command};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::stderr::StderrTail;
use super::{Life, Process, Shared, platform, supervise};
use crate::config::{Secret, StdioTransport};

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

/// A process that was just started: its streams, and the handle that owns it.
#[derive(Debug)]
pub(crate) struct Started {
    pub(crate) stdin: ChildStdin,
    pub(crate) stdout: ChildStdout,
    pub(crate) process: Process,
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

/// What most likely is wrong with a command that is not there.
fn advice(program: &str) -> &'static str {
    if program.contains(' ') {
        "give its arguments as `args`, not as part of `command`"
    } else {
        "install it, or give its full path as `command`"
    }
}
