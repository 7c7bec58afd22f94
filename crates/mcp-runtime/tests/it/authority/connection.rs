//! Whether a server opted in is known of each connection, not of each server (S1).

use std::time::Duration;

use mcp_runtime::{ReconnectPolicy, RuntimeEvent};
use mcp_testkit::{Action, Handshake, Rule, Script};
use serde_json::{Value, json};

use super::{capabilities, environment, meta, state, told};
use crate::host::{Host, SERVER, builder, stdio};

/// The answer to `initialize` of a server that says this under `experimental`.
fn initialize(experimental: &Value) -> [Action; 1] {
    let handshake = Handshake::new().capabilities(capabilities(experimental));
    [Action::Result(handshake.result(&json!({})))]
}

/// A server that says something else of itself when it is started again, and what it is told then.
async fn check(first: &Value, second: &Value, expected: [Option<&str>; 2]) {
    let last = [Action::Standard, Action::Exit(0)];
    let process = Script::new()
        .tool_named("t")
        .rule(Rule::on("initialize", initialize(first)).in_process(1))
        .rule(Rule::on("initialize", initialize(second)).in_process(2))
        .rule(Rule::on_tool("t", last).in_process(1))
        .command();
    let soon = ReconnectPolicy::new().first_pause(Duration::from_millis(10));
    let local = environment("local").sandbox_state(state("0"));
    let builder = builder().reconnect(soon).environment(local);
    let host = Host::begin(builder.server(stdio(SERVER, &process)));
    let mut host = host.settled().await;
    host.call("t").await.expect("an answer before the end");
    host.await_event(|event| matches!(event, RuntimeEvent::Reconnected { .. }))
        .await;
    host.call("t").await.expect("an answer");
    host.end().await;
    let expected = expected.map(|state| meta("", state, None));
    assert_eq!(told(&process), expected, "{first}, then {second}");
}

/// S1, R10
#[tokio::test]
async fn what_the_last_connection_advertised_counts() {
    let (opted_in, not) = (json!({"codex/sandbox-state": {}}), json!({}));
    check(&opted_in, &not, [Some("0"), None]).await;
    check(&not, &opted_in, [None, Some("0")]).await;
}
