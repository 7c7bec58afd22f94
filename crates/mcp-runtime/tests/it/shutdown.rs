//! Ends: asked for or not, of servers that follow and of servers that do not (R6, R11).

use std::thread;
use std::time::Duration;

use mcp_runtime::{McpRuntime, RuntimeEvent};
use mcp_testkit::{Action, Rule, Script, ServerLog};
use tokio::runtime::Runtime;
use tokio::time::Instant;

use crate::host::{Host, SERVER, at_once, stdio};

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

/// How far a server has come when its host goes.
const STAGES: &[(&str, &str)] = &[
    ("initialize", "in the middle of the handshake"),
    ("tools/list", "in the middle of the listing"),
    ("never", "ready"),
];

/// A server that ignores everything, leaves a grandchild, and hangs at one stage.
fn hanging_at(stage: &str) -> Script {
    let steps = [Action::IgnoreSigterm, GRANDCHILD];
    let script = Script::new().ignores_end().rule(Rule::at_start(steps));
    script.rule(Rule::on(stage, []))
}

/// Starts a host for each stage, each on a tokio runtime of its own, lets it go in some way, and nothing survives.
fn check_gone(let_go: impl Fn(Runtime, Host)) {
    let processes: Vec<_> = STAGES
        .iter()
        .map(|(stage, why)| {
            let process = hanging_at(stage).command();
            let tokio = Runtime::new().unwrap();
            let host = tokio.block_on(started(&process.log(), stdio(SERVER, &process), stage));
            assert_eq!(process.log().alive().len(), 2, "{why}");
            let_go(tokio, host);
            process
        })
        .collect();
    let tokio = Runtime::new().unwrap();
    for process in processes {
        tokio.block_on(process.log().expect_all_gone());
    }
}

async fn started(log: &ServerLog, server: mcp_runtime::ServerConfig, stage: &str) -> Host {
    if stage == "never" {
        return Host::ready(server).await;
    }
    let host = Host::serve([server]);
    log.expect(stage, 1).await;
    host
}

/// R6
#[cfg(unix)]
#[test]
fn nothing_survives_a_host_that_is_dropped() {
    check_gone(|tokio, host| {
        tokio.block_on(async { drop(host) });
        // The executor lives on: it is what ends the processes in stages.
        thread::spawn(move || tokio.block_on(std::future::pending::<()>()));
    });
}

/// R6
#[cfg(unix)]
#[test]
fn nothing_survives_a_host_that_is_dropped_on_a_plain_thread() {
    check_gone(|tokio, host| {
        thread::spawn(move || drop(host)).join().unwrap();
        thread::spawn(move || tokio.block_on(std::future::pending::<()>()));
    });
}

/// R6
#[cfg(unix)]
#[test]
fn nothing_survives_an_executor_that_goes_first() {
    check_gone(|tokio, host| {
        drop(tokio);
        thread::spawn(move || drop(host)).join().unwrap();
    });
}

/// R6
#[cfg(unix)]
#[test]
fn nothing_survives_an_executor_that_is_abandoned_after_the_host() {
    check_gone(|tokio, host| {
        drop(host);
        tokio.shutdown_background();
    });
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
