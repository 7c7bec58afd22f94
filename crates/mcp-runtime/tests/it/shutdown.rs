//! Ends: asked for or not, of servers that follow and of servers that do not (R6, R11).

use std::time::Duration;

use mcp_runtime::{McpRuntime, RuntimeEvent};
use mcp_testkit::{Action, Rule, Script};
use tokio::time::Instant;

use crate::host::{Host, at_once};

/// The default patience of a shutdown.
const PATIENCE: Duration = McpRuntime::DEFAULT_SHUTDOWN_TIMEOUT;
/// How far beyond its timeout a shutdown may end on a busy machine.
const SLACK: Duration = Duration::from_secs(1);

/// Shuts a ready server down within `timeout`; whether it is told as killed, and nothing of it is left.
async fn check(script: Script, timeout: Duration, killed: bool, why: &str) {
    let (mut host, process) = Host::play(&script).await;
    let log = process.log();
    let server = log.pids()[0];
    let begun = Instant::now();
    let report = host.runtime.shutdown(timeout).await;
    assert!(
        begun.elapsed() < timeout + SLACK,
        "{why}: {:?}",
        begun.elapsed()
    );
    assert_eq!(log.alive(), [0; 0], "{why}");
    let expected: &[u32] = if killed { &[server] } else { &[] };
    assert_eq!(report.killed(), expected, "{why}");
    let told = host.told_to_the_end().await;
    let lost = |event: &RuntimeEvent| matches!(event, RuntimeEvent::Disconnected { .. });
    assert!(
        !told.iter().any(lost),
        "{why}: an end of our own is not told as a loss"
    );
    let begun = Instant::now();
    assert_eq!(host.runtime.shutdown(timeout).await, report, "{why}: again");
    assert!(begun.elapsed() < SLACK, "{why}: again takes no time");
}

const GRANDCHILD: Action = Action::SpawnGrandchild {
    own_group: false,
    holds_output: true,
};

fn stubborn() -> Script {
    Script::new().ignores_sigterm().ignores_end()
}

/// R11
#[tokio::test]
async fn a_server_that_follows_is_not_killed() {
    check(Script::new(), PATIENCE, false, "it ends with its input").await;
    check(
        Script::new().ignores_sigterm(),
        PATIENCE,
        false,
        "its input is enough",
    )
    .await;
}

/// R6, R11
#[cfg(unix)]
#[tokio::test]
async fn servers_that_ignore_their_host_are_ended_within_the_timeout() {
    let parent = Script::new().rule(Rule::at_start([GRANDCHILD]));
    let both = stubborn().rule(Rule::on("notifications/initialized", [GRANDCHILD]));
    let half = Duration::from_millis(500);
    tokio::join!(
        check(
            Script::new().ignores_end(),
            PATIENCE,
            false,
            "SIGTERM is enough"
        ),
        check(stubborn(), PATIENCE, true, "it ignores everything"),
        check(
            stubborn(),
            half,
            true,
            "it ignores everything, with half a second"
        ),
        check(parent, PATIENCE, true, "its child ignores everything"),
        check(both, PATIENCE, true, "it and its child ignore everything"),
    );
}

/// R6: a server that is gone by itself leaves nothing behind either.
#[cfg(unix)]
#[tokio::test]
async fn the_grandchild_of_a_server_that_died_does_not_outlive_it() {
    let script = Script::new()
        .rule(Rule::at_start([GRANDCHILD]))
        .tool_named("fatal")
        .rule(Rule::on_tool("fatal", [Action::Kill]));
    let (host, process) = Host::play(&script).await;
    host.call("fatal").await.unwrap_err();
    process.log().expect_all_gone().await;
    host.end().await;
}

/// R6: a caller holds on to a call of a host that is gone.
#[tokio::test]
async fn a_call_in_flight_ends_with_its_host() {
    let script = crate::host::with_tool(Script::new(), "mute", []);
    let (host, process) = Host::play(&script).await;
    let call = host
        .prepare("mute")
        .execute(mcp_runtime::CallOptions::new());
    let leaving = async {
        process.log().expect("tools/call", 1).await;
        drop(host);
    };
    let (outcome, ()) = at_once(async { tokio::join!(call, leaving) }).await;
    let error = outcome.unwrap_err();
    assert_eq!(error.code(), mcp_runtime::ErrorCode::TransportClosed);
    process.log().expect_all_gone().await;
}
