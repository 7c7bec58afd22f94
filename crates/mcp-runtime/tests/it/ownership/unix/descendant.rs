//! Descendants that have left the process group of their server (R6).

use std::process::Command;

use mcp_runtime::{McpRuntime, ReconnectPolicy};
use mcp_testkit::{Action, Script};

use super::beside;
use super::census::{is_alive, pid_in};
use crate::host::{Host, at_once, builder, with_tool};

/// It follows SIGTERM.
const FOLLOWS: &str = "sh -c 'echo $$ > \"$0\"; exec sleep 600' \"$0\"";
/// It does not.
const STUBBORN: &str = "sh -c 'trap \"\" TERM; echo $$ > \"$0\"; exec sleep 600' \"$0\"";

/// A shutdown of a server that has started another process before ends that one too.
async fn check(other: [&str; 2], script: Script, killed: bool, why: &str) {
    let directory = tempfile::tempdir().unwrap();
    let (pid_file, process) = (directory.path().join("pid"), script.command());
    let mut bystander = Command::new("setsid")
        .args(["sleep", "600"])
        .spawn()
        .unwrap();
    let host = Host::ready(beside(&other.concat(), &pid_file, &process)).await;
    let (server, descendant) = (process.log().pids()[0], pid_in(&pid_file));
    assert!(is_alive(descendant), "{why}");
    let report = at_once(host.runtime.shutdown(McpRuntime::DEFAULT_SHUTDOWN_TIMEOUT)).await;
    assert!(!is_alive(descendant), "{why}: it has survived");
    assert!(!is_alive(server), "{why}");
    let expected: &[u32] = if killed { &[server] } else { &[] };
    assert_eq!(report.killed(), expected, "{why}");
    assert!(
        bystander.try_wait().unwrap().is_none(),
        "{why}: somebody else's was ended"
    );
    bystander.kill().unwrap();
    bystander.wait().unwrap();
}

/// R6
#[tokio::test]
async fn a_shutdown_ends_who_has_left_the_group() {
    let stubborn = || Script::new().ignores_sigterm().ignores_end();
    tokio::join!(
        check(
            ["setsid ", FOLLOWS],
            Script::new(),
            false,
            "its own session, and SIGTERM is enough"
        ),
        check(
            ["setsid ", STUBBORN],
            Script::new(),
            true,
            "its own session, and it ignores SIGTERM"
        ),
        check(
            ["setsid ", STUBBORN],
            stubborn(),
            true,
            "its own session, and it and its server ignore everything"
        ),
        check(
            ["setsid ", FOLLOWS],
            Script::new().ignores_end(),
            false,
            "its own session, and SIGTERM is enough for both"
        ),
        check(
            ["timeout 600 ", STUBBORN],
            Script::new(),
            true,
            "a group of its own"
        ),
    );
}

/// R6: an executor that goes first has no time for stages.
#[test]
fn an_executor_that_goes_first_takes_who_has_left_the_group_along() {
    let directory = tempfile::tempdir().unwrap();
    let (pid_file, process) = (directory.path().join("pid"), Script::new().command());
    let server = beside(&format!("setsid {STUBBORN}"), &pid_file, &process);
    let tokio = tokio::runtime::Runtime::new().unwrap();
    let host = tokio.block_on(Host::ready(server));
    drop(tokio);
    drop(host);
    let descendant = pid_in(&pid_file);
    let gone = async {
        while is_alive(descendant) {
            tokio::task::yield_now().await;
        }
    };
    tokio::runtime::Runtime::new()
        .unwrap()
        .block_on(at_once(gone));
}

/// Whatever a server that died has left behind is ended: nobody's child is known by its group, or by its mark.
async fn check_left_behind(other: [&str; 2], why: &str) {
    let directory = tempfile::tempdir().unwrap();
    let pid_file = directory.path().join("pid");
    let process = with_tool(Script::new(), "fatal", [Action::Kill]).command();
    let server = beside(&other.concat(), &pid_file, &process);
    // A second one would be none of this.
    let alone = builder().reconnect(ReconnectPolicy::never());
    let host = Host::begin(alone.server(server));
    at_once(host.runtime.settled()).await;
    host.call("fatal").await.unwrap_err();
    let report = at_once(host.runtime.shutdown(McpRuntime::DEFAULT_SHUTDOWN_TIMEOUT)).await;
    assert_eq!(report.killed(), process.log().pids(), "{why}");
    assert!(!is_alive(pid_in(&pid_file)), "{why}: it has survived");
}

/// R6: with its server gone, nobody is its descendant any more.
#[tokio::test]
async fn what_a_server_that_died_leaves_is_ended() {
    tokio::join!(
        check_left_behind(["", STUBBORN], "in its group"),
        check_left_behind(["setsid ", STUBBORN], "in a session of its own"),
        check_left_behind(
            ["setsid setsid -f ", STUBBORN],
            "a daemon, forked twice before that"
        ),
    );
}

/// R6: what was forked twice is nobody's descendant from the beginning.
#[tokio::test]
async fn a_shutdown_ends_a_daemon() {
    let daemon = ["setsid setsid -f ", STUBBORN];
    check(daemon, Script::new(), true, "a daemon").await;
}
