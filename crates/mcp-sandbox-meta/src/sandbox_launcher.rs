//! The program that can apply a sandbox state.

use std::path::Path;

use serde::{Deserialize, Serialize};

/// The value of `codex/sandbox-launcher` (S2): exactly `{"codexExecutable": "/abs/path"}`.
///
/// The path is absolute and valid UTF-8, also when it comes from JSON. Unknown members are tolerated when read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Wire")]
pub struct SandboxLauncher {
    #[serde(rename = "codexExecutable")]
    codex_executable: String,
}

/// A path that no launcher can have (S4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidLauncherPath {
    /// JSON cannot carry the path.
    #[error("the launcher's path is not valid UTF-8")]
    NotUtf8,
    /// What it means would depend on who reads it.
    #[error("the launcher's path is not absolute")]
    NotAbsolute,
}

impl SandboxLauncher {
    /// The launcher at `codex_executable`. That there is a program is not checked.
    ///
    /// # Errors
    ///
    /// The path is not absolute, or not UTF-8.
    pub fn new(codex_executable: &Path) -> Result<Self, InvalidLauncherPath> {
        if !codex_executable.is_absolute() {
            return Err(InvalidLauncherPath::NotAbsolute);
        }
        let text = codex_executable
            .to_str()
            .ok_or(InvalidLauncherPath::NotUtf8)?;
        Ok(Self {
            codex_executable: text.to_owned(),
        })
    }

    /// The program's absolute path.
    #[must_use]
    pub fn codex_executable(&self) -> &Path {
        Path::new(&self.codex_executable)
    }
}

#[derive(Deserialize)]
struct Wire {
    #[serde(rename = "codexExecutable")]
    codex_executable: String,
}

impl TryFrom<Wire> for SandboxLauncher {
    type Error = InvalidLauncherPath;

    fn try_from(wire: Wire) -> Result<Self, Self::Error> {
        Self::new(Path::new(&wire.codex_executable))
    }
}

#[cfg(test)]
#[cfg(unix)]
mod unix;
