//! Signals, and readers that go away.

use std::process::Stdio;
use std::time::Duration;

use mcp_testkit::{Rule, Script, ServerProcess};
use serde_json::json;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};
use tokio::time::Instant;

use crate::program::{Config, command, docs, scripted};

/// A call that is under way and will not be answered.
struct Call {
    program: Child,
    server: ServerProcess,
    _config: Config,
}

impl Call {
    async fn begin(script: Script) -> Self {
        let script = script.tool_named("endless");
        let (server, entry) = scripted(&script.rule(Rule::on_tool("endless", [])));
        let config = Config::of_servers(&json!({"s": entry}));
        let mut command = Command::from(command(config.command_line("call", &["s/endless"])));
        command.kill_on_drop(true).stderr(Stdio::piped());
        let program = command.spawn().expect("it starts");
        server.log().expect("tools/call", 1).await;
        Self {
            program,
            server,
            _config: config,
        }
    }

    async fn signal(&self, name: &str) {
        let pid = self.program.id().expect("it runs").to_string();
        let sent = Command::new("kill").args(["-s", name, &pid]).status().await;
        assert!(sent.expect("kill exists").success());
    }

    /// Waits until the program says something on stderr.
    async fn says(&mut self, text: &str) {
        let stderr = self.program.stderr.as_mut().expect("piped");
        let mut lines = BufReader::new(stderr).lines();
        let line = lines.next_line().await.expect("text").expect("a line");
        assert!(line.contains(text), "{line}");
    }

    /// The exit status, once nothing is left of the server.
    async fn end(mut self) -> Option<i32> {
        let status = self.program.wait().await.expect("it ends");
        self.server.log().expect_all_gone().await;
        status.code()
    }
}

/// U2
#[tokio::test]
async fn an_interruption_ends_the_call_and_its_server() {
    for (signal, status) in [("INT", 130), ("TERM", 143)] {
        let call = Call::begin(Script::new()).await;
        call.signal(signal).await;
        assert_eq!(call.end().await, Some(status), "{signal}");
    }
}

/// U2
#[tokio::test]
async fn a_server_that_will_not_end_is_killed_before_the_program_goes() {
    let call = Call::begin(Script::new().ignores_end().ignores_sigterm()).await;
    call.signal("INT").await;
    assert_eq!(call.end().await, Some(130));
}

/// Whoever will not wait for such a server says so once more.
#[tokio::test]
async fn a_second_interruption_kills_at_once() {
    let mut call = Call::begin(Script::new().ignores_end().ignores_sigterm()).await;
    call.signal("INT").await;
    call.says("interrupt again to kill them").await;
    let begun = Instant::now();
    call.signal("TERM").await;
    assert_eq!(call.end().await, Some(143));
    // The polite way takes 2.5 s.
    assert!(
        begun.elapsed() < Duration::from_secs(1),
        "{:?}",
        begun.elapsed()
    );
}

/// Nobody reads any more: no panic, no complaint, the same exit status.
#[test]
fn a_reader_that_goes_away_is_no_error() {
    let config = Config::of_servers(&json!({"docs": docs()}));
    let json = config.command_line("tools", &["--json"]);
    let table = config.command_line("tools", &[]);
    let demo = vec!["demo".to_owned()];
    for args in [json, table, demo] {
        let mut command = command(&args);
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{args:?}");
        assert_eq!(output.status.code(), Some(0), "{args:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_result_that_cannot_be_written_is_told() {
    let config = Config::of_servers(&json!({"docs": docs()}));
    let full = std::fs::OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .expect("Linux has it");
    let output = command(config.command_line("tools", &["--json"]))
        .stdout(full)
        .output();
    let output = output.expect("it ends");
    assert_eq!(output.status.code(), Some(5));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        stderr.contains("cannot write the result to stdout: "),
        "{stderr}"
    );
}
