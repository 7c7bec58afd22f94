//! Why an executable is no launcher.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::sandbox_launcher::InvalidLauncherPath;

/// An executable that must not be sent as a launcher.
#[derive(Debug, Clone, thiserror::Error)]
#[error("`{}` is not used as a sandbox launcher", .executable.display())]
pub struct LauncherProbeError {
    executable: PathBuf,
    #[source]
    failure: ProbeFailure,
}

/// Why an executable must not be sent as a launcher.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum ProbeFailure {
    /// No launcher can have such a path (S4).
    #[error(transparent)]
    Path(InvalidLauncherPath),
    /// There is no such file, or it cannot be looked at.
    #[error("the file cannot be looked at")]
    File(#[source] Arc<io::Error>),
    /// It cannot be started. Remembered for a minute.
    #[error("it cannot be started")]
    Start(#[source] Arc<io::Error>),
    /// It took longer than five seconds. Remembered for a minute.
    #[error("it did not answer in time")]
    TimedOut,
    /// It ended with another status than 0.
    #[error("it does not know how to apply a sandbox state ({status})")]
    Refused {
        /// How it ended.
        status: std::process::ExitStatus,
    },
    /// The file changed while it was asked. Not remembered.
    #[error("the file changed while it was asked")]
    Replaced,
}

impl LauncherProbeError {
    pub(super) fn new(executable: &Path, failure: ProbeFailure) -> Self {
        Self {
            executable: executable.to_owned(),
            failure,
        }
    }

    /// What was asked.
    #[must_use]
    pub fn executable(&self) -> &Path {
        &self.executable
    }

    /// Why it is no launcher.
    #[must_use]
    pub fn failure(&self) -> &ProbeFailure {
        &self.failure
    }
}

impl ProbeFailure {
    /// Whether the same file may do better later.
    pub(super) fn may_pass(&self) -> bool {
        matches!(self, Self::Start(_) | Self::TimedOut)
    }
}
