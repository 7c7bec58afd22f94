//! What servers say of themselves, well-formed or not, and which of it costs them their startup (R5, R7, R8).

use std::sync::Arc;

use mcp_runtime::{ErrorCode, Phase, ServerState, StartupError};
use mcp_testkit::{Action, Rule, Script};
use serde_json::{Value, json};

use crate::host::{Host, at_once, logged, stdio, text};

/// Starts a server for each row, beside the others; what became of each.
async fn settled(rows: impl IntoIterator<Item = Script>) -> Vec<ServerState> {
    let processes: Vec<_> = rows.into_iter().map(|script| script.command()).collect();
    let name = |number: usize| format!("row-{number}");
    let servers = processes.iter().enumerate();
    let host = Host::serve(servers.map(|(number, process)| stdio(&name(number), process)));
    at_once(host.runtime.settled()).await;
    let states = (0..processes.len()).map(|number| host.state(&name(number)));
    let states = states.collect();
    host.end().await;
    states
}

/// A server with a tool that answers `initialize` with this result.
fn saying(result: &str) -> Script {
    let answer = Action::ResultRaw(result.to_owned());
    Script::new()
        .tool_named("t")
        .rule(Rule::on("initialize", [answer]))
}

#[track_caller]
fn failure(state: ServerState, reason: &str) -> Arc<StartupError> {
    match state {
        ServerState::Failed { error, .. } => error,
        state => panic!("{reason}: it is {state:?}"),
    }
}

#[track_caller]
fn check_ready(state: &ServerState, tools: usize, reason: &str) {
    let ready = matches!(state, ServerState::Ready { tools: listed, .. } if *listed == tools);
    assert!(ready, "{reason}: {state:?}");
}

/// R5: everything but the version is taken as it comes.
#[tokio::test]
async fn a_server_may_say_strange_things_of_itself() {
    let with = |members: &str| format!(r#"{{"protocolVersion":"2025-06-18"{members}}}"#);
    let rows = [
        (with(""), "nothing but a version"),
        (with(r#","capabilities":null,"serverInfo":null"#), "nulls"),
        (
            with(r#","capabilities":true"#),
            "capabilities of the wrong type",
        ),
        (
            with(r#","capabilities":[{"tools":{}}]"#),
            "a list of capabilities",
        ),
        (
            with(r#","capabilities":{"tools":true}"#),
            "a capability that is no object",
        ),
        (
            with(r#","capabilities":{"tools":{"listChanged":"yes"}}"#),
            "a word for a truth value",
        ),
        (
            with(r#","capabilities":{"tools":{},"tools":{}}"#),
            "a capability twice",
        ),
        (
            with(r#","capabilities":{"experimental":{"x":true,"y":null}}"#),
            "experiments that are no objects",
        ),
        (
            with(r#","capabilities":{"tools":{},"future":{"x":1e400}}"#),
            "capabilities of later versions",
        ),
        (
            with(r#","capabilities":{"tools":{}},"serverInfo":"acme""#),
            "a name that is no object",
        ),
        (
            with(r#","capabilities":{"tools":{}},"serverInfo":{"name":7}"#),
            "a name that is no text",
        ),
        (
            with(r#","capabilities":{"tools":{}},"instructions":["x"],"_meta":7"#),
            "no instructions",
        ),
        (
            with(r#","serverInfo":{"name":"\ud800","version":"\u0000"}"#),
            "texts that are none",
        ),
        (
            with(r#","protocolVersion":"2025-11-25""#),
            "a version twice: the last counts",
        ),
    ];
    let states = settled(rows.iter().map(|(result, _)| saying(result))).await;
    for ((_, reason), state) in rows.iter().zip(states) {
        check_ready(&state, 1, reason);
    }
}

/// R5: each at once, and with the word that helps.
#[tokio::test]
async fn a_server_whose_version_cannot_be_told_fails_at_once() {
    let version = |version: &str| format!(r#"{{"protocolVersion":{version},"capabilities":{{}}}}"#);
    let unexpected = ErrorCode::UnexpectedResponse;
    let rows = [
        (
            "{}".to_owned(),
            unexpected,
            "missing field `protocolVersion`",
        ),
        (
            version("null"),
            unexpected,
            "missing field `protocolVersion`",
        ),
        (
            version("20250618"),
            unexpected,
            "`protocolVersion`: invalid type: integer",
        ),
        (
            version("[\"2025-06-18\"]"),
            unexpected,
            "`protocolVersion`: invalid type: sequence",
        ),
        (version("\"\""), ErrorCode::StartupFailed, "supported are"),
        (
            version("\"1.0\""),
            ErrorCode::StartupFailed,
            "`1.0`; supported are",
        ),
        (
            version("\"2026-07-28\""),
            ErrorCode::StartupFailed,
            "`2026-07-28`; supported are",
        ),
        (
            "[\"2025-06-18\"]".to_owned(),
            unexpected,
            "invalid type: sequence",
        ),
        (
            "\"2025-06-18\"".to_owned(),
            unexpected,
            "invalid type: string",
        ),
        ("null".to_owned(), unexpected, "invalid type: null"),
        ("true".to_owned(), unexpected, "invalid type: boolean"),
    ];
    let states = settled(rows.iter().map(|(result, ..)| saying(result))).await;
    for ((result, code, says), state) in rows.iter().zip(states) {
        let error = failure(state, result);
        let message = text(&*error);
        assert_eq!(
            (error.code(), error.phase()),
            (*code, Phase::Handshake),
            "{result}: {message}"
        );
        assert!(
            message.contains(says),
            "{result} does not say {says:?}: {message}"
        );
    }
}

/// R5
#[tokio::test]
async fn every_version_with_a_handshake_is_agreed_to() {
    let versions = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
    let rows = versions.map(|version| saying(&json!({"protocolVersion": version}).to_string()));
    for (version, state) in versions.iter().zip(settled(rows).await) {
        check_ready(&state, 1, version);
    }
}

/// R7: in whichever order a server says things before it answers.
#[tokio::test]
async fn what_comes_before_the_handshake_disturbs_nothing() {
    let notice = |method: &str, params: Value| {
        Action::Send(json!({"jsonrpc": "2.0", "method": method, "params": params}))
    };
    let ask = |id: &str, method: &str| {
        Action::Send(json!({"jsonrpc": "2.0", "id": id, "method": method}))
    };
    let early = [
        notice("notifications/tools/list_changed", json!({})),
        notice("notifications/resources/list_changed", json!([])),
        notice(
            "notifications/message",
            json!({"level": "info", "data": "booting"}),
        ),
        notice(
            "notifications/progress",
            json!({"progressToken": 1, "progress": 1}),
        ),
        notice("notifications/cancelled", json!({"requestId": 1})),
        notice("$/unknown", json!(7)),
        ask("early-ping", "ping"),
        ask("early-roots", "roots/list"),
        Action::stdout("{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{}}\n"),
        Action::Standard,
        Action::Standard,
    ];
    let script = Script::new()
        .tool_named("t")
        .rule(Rule::on("initialize", early));
    let (host, process) = Host::play(&script).await;
    assert_eq!(host.call("t").await.unwrap().text(), "t");
    let answered = |log: &mcp_testkit::ServerLog, id: &str| {
        log.messages().iter().any(|message| message["id"] == id)
    };
    logged(&process.log(), |log| {
        answered(log, "early-ping") && answered(log, "early-roots")
    })
    .await;
    assert_eq!(process.log().count("initialize"), 1);
    assert_eq!(process.log().count("notifications/initialized"), 1);
    host.end().await;
}

/// R8: a server that has no tools need not know how to list them.
#[tokio::test]
async fn a_server_is_held_to_the_capabilities_that_it_declares() {
    let unknown = |code| Action::Error {
        code,
        message: "Method not found".to_owned(),
        data: Value::Null,
    };
    let server = |capabilities: Value, listing: Action| {
        let handshake = mcp_testkit::Handshake::new().capabilities(capabilities);
        Script::new()
            .handshake(handshake)
            .rule(Rule::on("tools/list", [listing]))
    };
    let tools = Action::Result(json!({"tools": [{"name": "t"}]}));
    let others = json!({"resources": {}, "prompts": {}, "logging": {}, "completions": {}});
    let ready = [
        (
            server(others.clone(), unknown(-32_601)),
            0,
            "it declares no tools, and has none",
        ),
        (
            server(json!({}), unknown(-32_601)),
            0,
            "it declares nothing",
        ),
        (
            server(json!({"tools": null}), unknown(-32_601)),
            0,
            "null is nothing",
        ),
        (server(others, tools.clone()), 1, "it declares too little"),
        (
            server(json!({"tools": {}}), Action::Result(json!({"tools": null}))),
            0,
            "no tools",
        ),
    ];
    let states = settled(ready.iter().map(|(script, ..)| script.clone())).await;
    for ((_, tools, reason), state) in ready.iter().zip(states) {
        check_ready(&state, *tools, reason);
    }
    let failed = [
        (
            server(json!({"tools": {}}), unknown(-32_601)),
            "it declares tools",
        ),
        (
            server(json!({}), unknown(-32_603)),
            "something else is wrong",
        ),
    ];
    let states = settled(failed.iter().map(|(script, _)| script.clone())).await;
    for ((_, reason), state) in failed.iter().zip(states) {
        let error = failure(state, reason);
        assert_eq!(
            (error.code(), error.phase()),
            (ErrorCode::ProtocolError, Phase::Listing),
            "{reason}"
        );
    }
}
