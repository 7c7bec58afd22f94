//! Attempts to connect again: how often, after what, and those that fail.

use std::time::Duration;

use mcp_runtime::{RuntimeEvent, ServerState};
use mcp_testkit::{Action, Rule, Script};
use tokio::time::Instant;

use super::{die, disconnected, mortal, outage, pausing, play, quick, reconnected};
use crate::host::{Host, SERVER, at_once, stdio};

/// R10: coming up is not enough, so a server that always does gets no shorter pauses for it.
#[tokio::test]
async fn a_server_that_exits_right_after_each_start_is_waited_for_longer_and_longer() {
    let script = Script::new().rule(Rule::on("tools/list", [Action::Standard, Action::Exit(1)]));
    let process = script.command();
    let builder = pausing(Duration::from_millis(50), Duration::from_secs(60));
    let begun = Instant::now();
    let mut host = Host::begin(builder.server(stdio(SERVER, &process)));
    host.await_event(disconnected).await;
    for _ in 0..5 {
        let told = host.await_event(reconnected).await;
        assert!(told.len() <= 2, "one event for each change: {told:#?}");
    }
    // At least the halves of 50, 100, 200, 400 and 800 ms.
    let least = Duration::from_millis(775);
    assert!(begun.elapsed() >= least, "{:?}", begun.elapsed());
    host.end().await;
    process.log().expect_all_gone().await;
}

/// R10: it goes on until one succeeds, and only that one is told.
#[tokio::test]
async fn attempts_that_fail_are_not_told() {
    let refuse = |number| Rule::on("initialize", [Action::Exit(7)]).in_process(number);
    let script = mortal().rule(refuse(2)).rule(refuse(3));
    let (mut host, process) = play(quick(), &script).await;
    host.told();
    die(&host).await;
    let told = host.await_event(reconnected).await;
    assert_eq!(told.len(), 2, "{told:#?}");
    assert!(
        matches!(told[1], RuntimeEvent::Reconnected { attempts: 3, .. }),
        "{told:#?}"
    );
    assert!(host.call("search").await.is_ok());
    assert_eq!(process.log().pids().len(), 4);
    host.end().await;
    process.log().expect_all_gone().await;
}

/// R10: what keeps the server away is the last thing that happened.
#[tokio::test]
async fn the_status_says_why_the_last_attempt_failed() {
    let last_words = [Action::Stderr("no licence".into()), Action::Exit(7)];
    let script = mortal()
        .rule(Rule::on("initialize", [Action::Standard]).in_process(1))
        .rule(Rule::on("initialize", last_words));
    let (host, process) = play(quick(), &script).await;
    die(&host).await;
    at_once(async {
        while !matches!(host.state(SERVER), ServerState::Disconnected(outage) if outage.failed_attempts() >= 2)
        {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    })
    .await;
    let outage = outage(&host);
    let said = crate::host::text(&outage);
    for part in [
        "exited with status 3; it is being reconnected; attempt ",
        " to reconnect failed: server `scripted` (`",
        "did not start: the handshake failed: ",
        "exited with status 7",
    ] {
        assert!(said.contains(part), "no `{part}` in: {said}");
    }
    assert_eq!(outage.stderr_tail(), "no licence");
    assert!(outage.is_reconnecting());
    host.end().await;
    process.log().expect_all_gone().await;
}

/// R2: each attempt is a startup with a deadline of its own.
#[tokio::test]
async fn an_attempt_that_hangs_runs_out_of_its_own_time() {
    let script = mortal().rule(Rule::on("initialize", []).in_process(2));
    let process = script.command();
    let server = stdio(SERVER, &process).startup_timeout(Duration::from_secs(2));
    let mut host = Host::begin(quick().server(server)).settled().await;
    die(&host).await;
    let told = host.await_event(reconnected).await;
    let last = told.last();
    assert!(
        matches!(last, Some(RuntimeEvent::Reconnected { attempts: 2, .. })),
        "{last:?}"
    );
    host.end().await;
    process.log().expect_all_gone().await;
}

/// R10: two processes of one server could get in each other's way.
#[tokio::test]
async fn a_process_that_lingers_is_ended_before_the_next_is_started() {
    let script = Script::new()
        .ignores_end()
        .tool_named("search")
        .rule(Rule::on_tool("search", [Action::CloseOutput]).in_process(1));
    let (mut host, process) = play(quick(), &script).await;
    host.call("search").await.expect_err("nobody answers");
    process.log().expect("initialize", 2).await;
    assert_eq!(process.log().alive().len(), 1);
    host.await_event(reconnected).await;
    host.end().await;
    process.log().expect_all_gone().await;
}

/// R10 is about connections: where there was none, there is none to make again.
#[tokio::test]
async fn a_server_that_never_started_is_not_tried_again() {
    let script = Script::new().rule(Rule::on("initialize", [Action::Exit(7)]).in_process(1));
    let process = script.command();
    let mut host = Host::begin(quick().server(stdio(SERVER, &process)));
    at_once(host.runtime.settled()).await;
    host.end().await;
    assert!(matches!(host.state(SERVER), ServerState::Failed { .. }));
    assert_eq!(process.log().pids().len(), 1);
    let told = host.told_to_the_end().await;
    assert!(
        matches!(told.last(), Some(RuntimeEvent::Failed { .. })),
        "{told:?}"
    );
}
