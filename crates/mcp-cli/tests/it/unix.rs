//! Signals, and readers that go away.

use std::process::Stdio;

use mcp_testkit::{Rule, Script};
use serde_json::json;
use tokio::process::Command;

use crate::program::{Config, command, docs, scripted};

/// Interrupts a call that is under way.
async fn interrupted_call(script: Script, signals: &[&str]) -> Option<i32> {
    let (process, entry) = scripted(
        &script
            .tool_named("endless")
            .rule(Rule::on_tool("endless", [])),
    );
    let config = Config::of_servers(&json!({"s": entry}));
    let mut command = Command::from(command(config.command_line("call", &["s/endless"])));
    let mut child = command
        .kill_on_drop(true)
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    process.log().expect("tools/call", 1).await;
    let pid = child.id().expect("it runs").to_string();
    for signal in signals {
        let sent = Command::new("kill")
            .args(["-s", signal, &pid])
            .status()
            .await;
        assert!(sent.expect("kill exists").success());
    }
    let status = child.wait().await.expect("it ends");
    process.log().expect_all_gone().await;
    status.code()
}

/// U2
#[tokio::test]
async fn an_interruption_ends_the_call_and_its_server() {
    assert_eq!(interrupted_call(Script::new(), &["INT"]).await, Some(130));
    assert_eq!(interrupted_call(Script::new(), &["TERM"]).await, Some(143));
}

/// U2
#[tokio::test]
async fn a_server_that_will_not_end_is_killed_before_the_program_goes() {
    let stubborn = Script::new().ignores_end().ignores_sigterm();
    assert_eq!(interrupted_call(stubborn, &["INT"]).await, Some(130));
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
