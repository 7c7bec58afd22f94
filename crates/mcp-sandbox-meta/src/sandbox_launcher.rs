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
mod tests {
    use super::*;

    /// Through the constructor and through JSON, which must agree.
    #[track_caller]
    fn check(path: &str, expected: Result<&str, InvalidLauncherPath>) {
        let json = serde_json::json!({ "codexExecutable": path }).to_string();
        let read = serde_json::from_str::<SandboxLauncher>(&json);
        match (SandboxLauncher::new(Path::new(path)), expected) {
            (Ok(launcher), Ok(text)) => {
                assert_eq!(launcher.codex_executable(), Path::new(path));
                assert_eq!(serde_json::to_string(&launcher).unwrap(), text);
                assert_eq!(read.unwrap(), launcher);
            }
            (built, expected) => {
                assert_eq!(built.err(), expected.err());
                assert!(read.is_err(), "JSON is no side door");
            }
        }
    }

    /// S2, S4
    #[test]
    fn only_an_absolute_path_is_a_launcher() {
        check(
            "/usr/local/bin/codex",
            Ok(r#"{"codexExecutable":"/usr/local/bin/codex"}"#),
        );
        check("/a b/ü", Ok(r#"{"codexExecutable":"/a b/ü"}"#));
        for relative in ["codex", "./codex", "", "~/codex"] {
            check(relative, Err(InvalidLauncherPath::NotAbsolute));
        }
    }

    /// S4
    #[test]
    fn a_path_that_is_not_utf8_is_refused() {
        use std::os::unix::ffi::OsStrExt as _;

        let path = Path::new(std::ffi::OsStr::from_bytes(b"/bin/\xff"));
        assert_eq!(
            SandboxLauncher::new(path),
            Err(InvalidLauncherPath::NotUtf8)
        );
    }

    #[test]
    fn unknown_members_are_tolerated_and_repeated_ones_are_not() {
        let read = |json| serde_json::from_str::<SandboxLauncher>(json);
        let launcher = read(r#"{"later":[1],"codexExecutable":"/bin/codex"}"#).unwrap();
        assert_eq!(launcher.codex_executable(), Path::new("/bin/codex"));
        assert!(read(r#"{"codexExecutable":"/a","codexExecutable":"/b"}"#).is_err());
        assert!(read("{}").is_err());
        assert!(read(r#"{"codexExecutable":null}"#).is_err());
    }
}
