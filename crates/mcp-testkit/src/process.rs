//! A scripted server as a command to start, and where its program is.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::panic::Location;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::failure::fail;
use crate::script::Script;
use crate::server_log::ServerLog;

/// The target that a crate whose tests start scripted servers has to have.
const EXAMPLE: &str = "scripted-server";

/// What to start: a program, its arguments, and the log of whatever processes were started from it. Script and log are in
/// a directory that goes away with this value.
#[derive(Debug)]
pub struct ServerProcess {
    program: PathBuf,
    dir: TempDir,
}

impl ServerProcess {
    pub(crate) fn new(program: PathBuf, script: &Script, at: &Location<'_>) -> Self {
        let written = TempDir::with_prefix("scripted-server-").and_then(|dir| {
            fs::write(dir.path().join("script.json"), serde_json::to_vec(script)?)?;
            Ok(dir)
        });
        match written {
            Ok(dir) => Self { program, dir },
            Err(error) => fail(
                at,
                format_args!("cannot write the script to a temporary directory: {error}"),
            ),
        }
    }

    /// The program.
    #[must_use]
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// Its arguments.
    #[must_use]
    pub fn args(&self) -> Vec<OsString> {
        vec![
            self.dir.path().join("script.json").into(),
            self.log_path().into(),
        ]
    }

    /// The log of every process started from this.
    #[must_use]
    pub fn log(&self) -> ServerLog {
        ServerLog::new(self.log_path())
    }

    fn log_path(&self) -> PathBuf {
        self.dir.path().join("log.jsonl")
    }

    /// The example `scripted-server` of the crate under test, beside the test's own executable: see
    /// [`scripted_server_main`](crate::scripted_server_main) for why it is one and what it looks like.
    ///
    /// # Panics
    ///
    /// When it has not been built; the message says how to.
    #[track_caller]
    #[must_use]
    pub fn locate() -> PathBuf {
        let at = Location::caller();
        let test = env::current_exe()
            .unwrap_or_else(|error| fail(at, format_args!("this test has no path: {error}")));
        program_of(&test).unwrap_or_else(|missing| {
            fail(
                at,
                format_args!(
                    "no scripted server at {}: cargo builds it for a plain `cargo test -p <crate>` or `cargo nextest run -p <crate>`, but \
                     not with --test, --tests, --lib or --all-targets; run `cargo build -p <crate> --example {EXAMPLE}` first",
                    missing.display()
                ),
            )
        })
    }
}

/// The program that belongs to a test executable; `Err` where it would be.
fn program_of(test: &Path) -> Result<PathBuf, PathBuf> {
    // target/<profile>/deps/<test> has target/<profile>/examples/<example> beside it.
    let profile = test.ancestors().nth(2).unwrap_or(Path::new(""));
    let program = profile
        .join("examples")
        .join(format!("{EXAMPLE}{}", env::consts::EXE_SUFFIX));
    if program.is_file() {
        Ok(program)
    } else {
        Err(program)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_is_the_example_beside_the_test() {
        let target = TempDir::new().expect("a temporary directory");
        let test = target.path().join("debug/deps/it-0123456789abcdef");
        let program = target
            .path()
            .join("debug/examples")
            .join(format!("scripted-server{}", env::consts::EXE_SUFFIX));
        assert_eq!(program_of(&test), Err(program.clone()), "not built");
        fs::create_dir_all(program.parent().expect("a directory")).expect("a directory");
        fs::write(&program, []).expect("a file");
        assert_eq!(program_of(&test), Ok(program));
    }
}
