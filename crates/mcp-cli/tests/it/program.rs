//! Running the program.

use std::ffi::OsStr;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use mcp_testkit::{Script, ServerProcess};
use serde_json::{Value, json};
use tempfile::TempDir;

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_mcp-runtime");

/// What a run of the program left.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) status: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// The program with arguments, and none of the caller's settings.
pub(crate) fn command(args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Command {
    let mut command = Command::new(PROGRAM);
    command.args(args);
    for variable in ["RUST_LOG", "CLICOLOR_FORCE", "COLUMNS", "NO_COLOR"] {
        command.env_remove(variable);
    }
    command
}

/// Runs the program to its end.
#[track_caller]
pub(crate) fn run(args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Ran {
    run_with_stdin(args, "")
}

/// Runs the program to its end with text on its stdin.
#[track_caller]
pub(crate) fn run_with_stdin(
    args: impl IntoIterator<Item = impl AsRef<OsStr>>,
    stdin: &str,
) -> Ran {
    let mut command = command(args);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    let mut input = child.stdin.take().expect("piped");
    input
        .write_all(stdin.as_bytes())
        .expect("short enough for the pipe");
    drop(input);
    let output = child.wait_with_output().expect("the program ends");
    Ran {
        status: output.status.code(),
        stdout: String::from_utf8(output.stdout).expect("UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("UTF-8"),
    }
}

impl Ran {
    /// Checks the exit status, and that nothing was said on stderr.
    #[track_caller]
    pub(crate) fn quietly(self, status: i32) -> Self {
        assert_eq!(self.stderr, "", "{self:?}");
        self.with(status)
    }

    /// Checks the exit status.
    #[track_caller]
    pub(crate) fn with(self, status: i32) -> Self {
        assert_eq!(self.status, Some(status), "{self:?}");
        self
    }

    /// Checks that stderr says something.
    #[track_caller]
    pub(crate) fn saying(self, text: &str) -> Self {
        assert!(self.stderr.contains(text), "no `{text}` in: {self:?}");
        self
    }

    /// What is on stdout, which is one line of JSON.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.stdout.lines().count(), 1, "{self:?}");
        serde_json::from_str(&self.stdout).expect("JSON")
    }
}

/// A configuration file.
#[derive(Debug)]
pub(crate) struct Config {
    dir: TempDir,
}

impl Config {
    pub(crate) fn of_text(text: impl AsRef<[u8]>) -> Self {
        let dir = TempDir::new().expect("a temporary directory");
        fs::write(dir.path().join("mcp.json"), text).expect("a file");
        Self { dir }
    }

    pub(crate) fn of_servers(servers: &Value) -> Self {
        Self::of_text(json!({"mcpServers": servers}).to_string())
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.dir.path().join("mcp.json")
    }

    /// Runs a command with this configuration.
    #[track_caller]
    pub(crate) fn run(&self, command: &str, args: &[&str]) -> Ran {
        run(self.command_line(command, args))
    }

    pub(crate) fn command_line(&self, command: &str, args: &[&str]) -> Vec<String> {
        let path = self.path().to_str().expect("UTF-8").to_owned();
        let begin = [command.to_owned(), "--config".to_owned(), path];
        begin
            .into_iter()
            .chain(args.iter().map(|arg| (*arg).to_owned()))
            .collect()
    }
}

/// An entry for the program's own demo server.
pub(crate) fn docs() -> Value {
    json!({"command": PROGRAM, "args": ["demo-server", "--environment", "here"]})
}

/// An entry for a command that does not exist.
pub(crate) fn missing() -> Value {
    json!({"command": "no-such-program-anywhere"})
}

/// A scripted server, and the entry for it.
pub(crate) fn scripted(script: &Script) -> (ServerProcess, Value) {
    let programs = Path::new(PROGRAM)
        .parent()
        .expect("a file is in a directory");
    let name = format!("cli-scripted-server{}", std::env::consts::EXE_SUFFIX);
    let process = script.command_of(programs.join("examples").join(name));
    let args: Vec<String> = process
        .args()
        .into_iter()
        .map(|arg| arg.into_string().expect("UTF-8"))
        .collect();
    let entry = json!({"command": process.program(), "args": args});
    (process, entry)
}
