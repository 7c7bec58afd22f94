//! Why a task failed.

use std::error::Error;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

/// Why a task failed. What it found wrong has been printed by then.
#[derive(Debug)]
pub(crate) enum TaskError {
    /// A program could not be started.
    Start { command: String, source: io::Error },
    /// A program ran and reported failure.
    Exit { command: String, status: ExitStatus },
    /// A file or folder could not be read or written.
    File { path: PathBuf, source: io::Error },
    /// Cargo could not describe the workspace.
    Metadata(Box<cargo_metadata::Error>),
    /// A check of ours found something wrong.
    Findings { count: usize },
    /// A step that has to run tests ran none, so it proved nothing.
    NoTests { step: &'static str },
    /// The step reads what another step leaves behind, and that one failed.
    Needs { step: &'static str },
    /// Cargo built something else.
    NotBuilt { program: &'static str },
    /// The package has no program for this platform.
    NoLauncher { below: PathBuf },
    /// The launcher was asked and cannot do what it is for, so that nothing could be tried with it.
    CannotConfine,
}

impl TaskError {
    /// For `map_err` on an operation on `path`.
    pub(crate) fn file(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::File { path, source }
    }
}

impl fmt::Display for TaskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start { command, .. } => write!(f, "cannot start `{command}`"),
            Self::Exit { command, status } => write!(f, "`{command}` failed ({status})"),
            Self::File { path, .. } => write!(f, "cannot access {}", path.display()),
            Self::Metadata(_) => write!(f, "cargo cannot describe the workspace"),
            Self::Findings { count } => write!(f, "{count} to fix, listed above"),
            Self::NoTests { step } => write!(f, "{step} ran no test, which proves nothing"),
            Self::Needs { step } => write!(f, "not run: it needs {step} to pass first"),
            Self::NotBuilt { program } => write!(f, "cargo built no `{program}`"),
            Self::NoLauncher { below } => {
                write!(f, "no launcher for this platform below {}", below.display())
            }
            Self::CannotConfine => write!(
                f,
                "this machine cannot confine processes, for the reason above: the probe was tried, confinement was not"
            ),
        }
    }
}

impl Error for TaskError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Start { source, .. } | Self::File { source, .. } => Some(source),
            Self::Metadata(source) => Some(source),
            Self::Exit { .. }
            | Self::Findings { .. }
            | Self::NoTests { .. }
            | Self::Needs { .. }
            | Self::NotBuilt { .. }
            | Self::NoLauncher { .. }
            | Self::CannotConfine => None,
        }
    }
}
