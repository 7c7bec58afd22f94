//! Servers that are connected again when their connection ends (R10).

mod attempt;
mod change;
mod end;

use std::time::Duration;

use mcp_runtime::{
    ErrorCode, McpRuntimeBuilder, Outage, PrepareErrorKind, ReconnectPolicy, RuntimeEvent,
    ServerState,
};
use mcp_testkit::{Action, Rule, Script, ServerProcess};

use crate::host::{Host, SERVER, at_once, builder, stdio, text};

/// A host that hardly waits before it reconnects.
fn quick() -> McpRuntimeBuilder {
    pausing(Duration::from_millis(10), Duration::from_millis(100))
}

/// A host that is still waiting when the test ends.
fn patient() -> McpRuntimeBuilder {
    let hour = Duration::from_secs(60 * 60);
    pausing(hour, hour)
}

fn pausing(first: Duration, longest: Duration) -> McpRuntimeBuilder {
    let policy = ReconnectPolicy::new().first_pause(first);
    builder().reconnect(policy.longest_pause(longest))
}

/// Starts a server that must become ready.
async fn play(builder: McpRuntimeBuilder, script: &Script) -> (Host, ServerProcess) {
    let process = script.command();
    let host = Host::begin(builder.server(stdio(SERVER, &process)));
    (host.settled().await, process)
}

/// A server with the tools `search`, and `die`, with which the first process ends while it is being called.
fn mortal() -> Script {
    let last = [Action::Stderr("out of memory".into()), Action::Exit(3)];
    let script = Script::new().tool_named("search").tool_named("die");
    script.rule(Rule::on_tool("die", last).in_process(1))
}

/// Calls the tool with which the server ends.
async fn die(host: &Host) {
    let error = host.call("die").await.expect_err("nobody answers");
    assert_eq!(error.code(), ErrorCode::TransportClosed, "{}", text(&error));
}

fn disconnected(event: &RuntimeEvent) -> bool {
    matches!(event, RuntimeEvent::Disconnected { .. })
}

fn reconnected(event: &RuntimeEvent) -> bool {
    matches!(event, RuntimeEvent::Reconnected { .. })
}

/// What is known of the connection that is gone.
fn outage(host: &Host) -> Outage {
    match host.state(SERVER) {
        ServerState::Disconnected(outage) => outage,
        state => panic!("the server is not disconnected: {state:?}"),
    }
}

/// R10: the call fails at once and is not repeated, and the server is there again for the next one.
#[tokio::test]
async fn a_server_that_dies_in_the_middle_of_a_call_is_connected_again() {
    let (mut host, process) = play(quick(), &mortal()).await;
    host.told();
    die(&host).await;
    let told = host.await_event(reconnected).await;
    let [lost, back] = told.as_slice() else {
        panic!("one event for each change: {told:#?}");
    };
    assert!(
        matches!(lost, RuntimeEvent::Disconnected { message, stderr_tail, reconnecting: true, .. }
            if message == "the server process exited with status 3" && stderr_tail == "out of memory"),
        "{lost:?}"
    );
    assert!(
        matches!(
            back,
            RuntimeEvent::Reconnected {
                tools: 2,
                attempts: 1,
                shared: false,
                ..
            }
        ),
        "{back:?}"
    );
    let called = host.call("search").await.expect("it is there again");
    assert_eq!(called.text(), "search");
    let log = process.log();
    assert_eq!(log.count_calls("die"), 1, "nothing is repeated");
    assert_eq!(log.count("tools/list"), 2, "it is listed again");
    assert!(host.runtime.missing().is_empty());
    assert_eq!(host.told().len(), 0, "nothing changed");
    host.end().await;
    log.expect_all_gone().await;
}

/// R10: nobody need have called.
#[cfg(unix)]
#[tokio::test]
async fn a_server_that_is_killed_is_connected_again() {
    use rustix::process::{Pid, Signal, kill_process};

    let (mut host, process) = play(quick(), &mortal()).await;
    for round in 1..=3 {
        let server = process.log().alive();
        assert_eq!(server.len(), 1, "round {round}");
        let server = i32::try_from(server[0]).ok().and_then(Pid::from_raw);
        kill_process(server.expect("a process id"), Signal::KILL).expect("it is alive");
        let told = host.await_event(reconnected).await;
        let by_signal = |event: &RuntimeEvent| matches!(event, RuntimeEvent::Disconnected { message, .. } if message.contains("signal 9"));
        assert!(told.iter().any(by_signal), "round {round}: {told:#?}");
        assert!(host.call("search").await.is_ok(), "round {round}");
    }
    host.end().await;
    process.log().expect_all_gone().await;
}

/// R10: a call by name waits for nobody, and says what has happened and what is done about it.
#[tokio::test]
async fn a_call_while_the_server_is_away_says_so() {
    let process = mortal().command();
    let server = stdio(SERVER, &process).required(true);
    let mut host = Host::begin(patient().server(server)).settled().await;
    let name = host
        .runtime
        .capture()
        .tools()
        .next()
        .map(|tool| tool.name().flat().to_owned());
    let name = name.expect("a tool");
    die(&host).await;
    host.await_event(disconnected).await;
    let binding = host.runtime.capture();
    for prepared in [
        binding.prepare(&name),
        binding.prepare_tool(SERVER, None, "search"),
    ] {
        let error = prepared.expect_err("it is away");
        assert_eq!(error.code(), ErrorCode::TransportClosed);
        assert!(
            matches!(error.kind(), PrepareErrorKind::Disconnected { .. }),
            "{error:?}"
        );
        let said = text(&error);
        let expected = "server `scripted` is not connected: the server process exited with status 3; it is being reconnected";
        assert!(said.ends_with(expected), "{said}");
        let tail = error.outage().map(Outage::stderr_tail);
        assert_eq!(tail, Some("out of memory"));
    }
    let other = binding
        .prepare("mcp__scripted2__search")
        .expect_err("no such server");
    assert_eq!(other.code(), ErrorCode::InvalidRequest, "{other:?}");
    let refreshed = at_once(host.runtime.refresh(SERVER)).await;
    let error = refreshed.expect_err("it is away");
    assert_eq!(error.code(), ErrorCode::TransportClosed);
    assert!(
        text(&error).contains("it is being reconnected"),
        "{}",
        text(&error)
    );
    assert_eq!(host.runtime.missing().len(), 1, "it is required");
    at_once(host.runtime.settled()).await;
    host.end().await;
    process.log().expect_all_gone().await;
}

/// R10: a host can do without.
#[tokio::test]
async fn a_server_stays_gone_where_the_host_wants_it() {
    let builder = builder().reconnect(ReconnectPolicy::never());
    let (mut host, process) = play(builder, &mortal()).await;
    die(&host).await;
    let told = host.await_event(disconnected).await;
    let last = told.last();
    assert!(
        matches!(
            last,
            Some(RuntimeEvent::Disconnected {
                reconnecting: false,
                ..
            })
        ),
        "{last:?}"
    );
    assert!(!outage(&host).is_reconnecting());
    assert_eq!(
        outage(&host).to_string(),
        "the server process exited with status 3"
    );
    host.end().await;
    assert_eq!(process.log().pids().len(), 1);
}
