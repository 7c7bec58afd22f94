//! Where the processes of an environment run: on this machine, or on the far side of a command (R4).
//!
//! An executor turns what a server's configuration says into what is launched on this machine. Servers at a URL are
//! reached from here whatever their environment's executor is.

mod command;
mod error;
mod local;
mod quoting;

use std::path::PathBuf;

pub use command::{CommandExecutor, EmptyCommand};
pub use error::ExecutorError;
pub use quoting::Quoting;

use crate::config::StdioTransport;
use crate::connection::Launch;

/// How the servers of an environment that are processes are started (R4).
///
/// ```
/// use mcp_runtime::{CommandExecutor, Environment, Executor, Quoting};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let container = CommandExecutor::new(["docker", "exec", "-i", "ci"], Quoting::None)?;
/// let environment = Environment::new("ci".parse()?).executor(container);
/// # assert_eq!(environment.id().as_str(), "ci");
/// # assert_eq!(Executor::default(), Executor::Local);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Executor {
    /// On this machine, as children of this process.
    #[default]
    Local,
    /// Behind a command.
    Command(CommandExecutor),
}

impl From<CommandExecutor> for Executor {
    fn from(command: CommandExecutor) -> Self {
        Self::Command(command)
    }
}

impl Executor {
    /// Whether its servers share a machine and a file system with this process (S4).
    #[must_use]
    pub fn is_local(&self) -> bool {
        matches!(self, Self::Local)
    }

    /// The program that is started instead of a server.
    pub(crate) fn program(&self) -> Option<&str> {
        match self {
            Self::Local => None,
            Self::Command(command) => Some(command.program()),
        }
    }

    /// What it is configured with, but for variables: nothing when it is this machine. Two that differ in these words are
    /// two executors (C5, A1).
    pub(crate) fn words(&self) -> Vec<&str> {
        match self {
            Self::Local => Vec::new(),
            Self::Command(command) => command.words(),
        }
    }

    /// The same as one text.
    pub(crate) fn identity(&self) -> String {
        // The debug form of a list of texts reads in one way only.
        format!("{:?}", self.words())
    }
}

/// Where the process of one server runs.
#[derive(Debug, Clone, Default)]
pub(crate) struct Placement {
    pub(crate) executor: Executor,
    /// The working directory of its environment, on the executor's side.
    pub(crate) cwd: Option<PathBuf>,
}

impl Placement {
    /// What is launched on this machine. A variable of this process that a server is to have is read now.
    pub(crate) fn launch(&self, stdio: &StdioTransport) -> Result<Launch, ExecutorError> {
        let cwd = stdio.cwd.as_deref().or(self.cwd.as_deref());
        match &self.executor {
            Executor::Local => Ok(local::launch(stdio, cwd)),
            Executor::Command(command) => command.launch(stdio, cwd),
        }
    }
}
