//! The program that can apply a sandbox state.

use std::fmt;
use std::path::Path;

use serde::Serialize;
use serde::de::{Deserialize, Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};

const CODEX_EXECUTABLE: &str = "codexExecutable";

/// The value of `codex/sandbox-launcher` (S2): exactly `{"codexExecutable": "/abs/path"}`.
///
/// The path is absolute and valid UTF-8, also when it comes from JSON. Unknown members are tolerated when read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
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

    pub(crate) fn to_value(&self) -> serde_json::Value {
        serde_json::json!({ CODEX_EXECUTABLE: self.codex_executable })
    }
}

/// By hand: a derived one would take an array, too.
impl<'de> Deserialize<'de> for SandboxLauncher {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Members)
    }
}

struct Members;

impl<'de> Visitor<'de> for Members {
    type Value = SandboxLauncher;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with an absolute path as `codexExecutable`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut path: Option<String> = None;
        while let Some(name) = map.next_key::<String>()? {
            if name != CODEX_EXECUTABLE {
                map.next_value::<IgnoredAny>()?;
            } else if path.replace(map.next_value()?).is_some() {
                return Err(A::Error::duplicate_field(CODEX_EXECUTABLE));
            }
        }
        let path = path.ok_or_else(|| A::Error::missing_field(CODEX_EXECUTABLE))?;
        SandboxLauncher::new(Path::new(&path)).map_err(A::Error::custom)
    }
}

#[cfg(test)]
#[cfg(unix)]
mod unix;
