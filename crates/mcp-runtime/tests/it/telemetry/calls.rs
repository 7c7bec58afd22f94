//! Calls that reach their server.

use std::time::Duration;

use mcp_runtime::{CallOptions, ReconnectPolicy};
use mcp_testkit::{Action, HttpResponse, Script, ScriptedHttp};
use serde_json::json;

use super::{Watched, calls, watched};
use crate::host::{Host, at_once, raw, with_tool};
use crate::http;

/// A call of a tool that does this, recorded with this error.
async fn check(
    does: impl IntoIterator<Item = Action>,
    options: CallOptions,
    error: Option<(&str, &str)>,
    why: &str,
) {
    let watched = Watched::play(&with_tool(Script::new(), "t", does)).await;
    let outcome = watched.host.call_with("t", options).await;
    let is_refused = error.is_some_and(|(kind, _)| kind != "tool_error");
    assert_eq!(outcome.is_err(), is_refused, "{why}: {outcome:?}");
    watched.check(error, why);
    watched.host.end().await;
    watched.check(error, "nor later");
}

fn failed(code: &serde_json::Value) -> [Action; 1] {
    [Action::Result(
        json!({"isError": true, "structuredContent": {"error_code": code}}),
    )]
}

/// T1, T3, T4
#[tokio::test]
async fn whatever_a_server_does_its_call_is_recorded_once() {
    let none = CallOptions::new;
    let tool = |code| Some(("tool_error", code));
    let failure = |code| Some((code, code));
    let result = Action::Result;
    check([result(json!({"content": []}))], none(), None, "a result").await;
    check(
        failed(&json!("RATE LIMITED")),
        none(),
        tool("RATE_LIMITED"),
        "a code of its own",
    )
    .await;
    check(
        failed(&json!(7)),
        none(),
        tool("unknown"),
        "a tool that does not say why",
    )
    .await;
    let error = Action::Error {
        code: -32_000,
        message: "no".into(),
        data: serde_json::Value::Null,
    };
    check(
        [error],
        none(),
        failure("protocol_error"),
        "a JSON-RPC error",
    )
    .await;
    check(
        [result(json!([]))],
        none(),
        failure("unexpected_response"),
        "no result",
    )
    .await;
    check(
        [Action::Exit(3)],
        none(),
        failure("transport_closed"),
        "the server is gone",
    )
    .await;
    let hasty = none().timeout(Duration::from_millis(200));
    check([], hasty, failure("request_timeout"), "no answer").await;
    let bad = none().arguments(raw("[]"));
    check(
        [],
        bad,
        failure("invalid_request"),
        "arguments that are none",
    )
    .await;
    let bad = none().meta(raw("[]"));
    check([], bad, failure("invalid_request"), "metadata that is none").await;
}

/// T4, B4
#[tokio::test]
async fn a_call_whose_future_is_dropped_was_cancelled() {
    let watched = Watched::play(&with_tool(Script::new(), "mute", [])).await;
    let log = watched.process.log();
    let call = watched.host.prepare("mute").execute(CallOptions::new());
    tokio::select! {
        outcome = call => panic!("{outcome:?}"),
        () = log.expect("tools/call", 1) => {}
    }
    watched.check(Some(("cancelled", "cancelled")), "dropped in the middle");
    drop(watched.host.prepare("mute"));
    drop(watched.host.prepare("mute").execute(CallOptions::new()));
    watched.check(
        Some(("cancelled", "cancelled")),
        "what was not begun is no call",
    );
    watched.host.end().await;
}

/// T5: what a call says of itself, and T6: nothing of what was said in it.
#[tokio::test]
async fn a_span_says_which_call_it_was_and_nothing_of_what_it_was_about() {
    let answer = json!({"content": [{"type": "text", "text": "hush"}], "_meta": {
        "codex/telemetry": {"span": {"target_id": "issue-7", "secret": "hush"}},
    }});
    let watched = Watched::play(&with_tool(Script::new(), "t", [Action::Result(answer)])).await;
    let options = CallOptions::new().arguments(raw(r#"{"password":"hush"}"#));
    watched.host.call_with("t", options).await.unwrap();
    let id = watched.process.log().messages();
    let id = id.iter().find(|message| message["method"] == "tools/call");
    let id = id.expect("it was called")["id"].to_string();
    assert_eq!(
        watched.calls(),
        [format!(
            "tools/call t Client unset gen_ai.operation.name=execute_tool gen_ai.tool.name=t jsonrpc.request.id={id} mcp.method.name=tools/call mcp.protocol.version=2025-11-25 mcp.server.name=scripted mcp.target.id=issue-7 network.transport=pipe"
        )]
    );
    watched.host.end().await;
    let everything = watched.exported.span_lines().join("\n");
    assert!(!everything.contains("hush"), "{everything}");
}

/// T1: an endpoint that wants other credentials in the middle.
#[tokio::test]
async fn a_call_that_an_endpoint_refuses_is_recorded_with_where_it_went() {
    let exported = mcp_testkit::ExportedTelemetry::begin();
    let (url, mut server) = ScriptedHttp::bind().await;
    let builder = watched(&exported).reconnect(ReconnectPolicy::never());
    let host = Host::begin(builder.server(http::remote(http::at(&url))));
    http::serve(&host, &mut server, None, &["t"]).await;
    let refusing = async {
        let request = server.expect_post("tools/call").await;
        request
            .respond(HttpResponse::new(401).untyped_body("no"))
            .await;
    };
    let (outcome, ()) = at_once(async { tokio::join!(host.call("t"), refusing) }).await;
    outcome.expect_err("it is refused");
    host.end().await;
    let port = url
        .rsplit(':')
        .next()
        .and_then(|rest| rest.split('/').next());
    let reach = format!(
        "network.transport=tcp server.address=127.0.0.1 server.port={}",
        port.unwrap()
    );
    let calls = calls(&exported);
    assert_eq!(calls.len(), 1, "{calls:?}");
    assert!(calls[0].contains(" error.type=auth_required "), "{calls:?}");
    assert!(calls[0].ends_with(&reach), "{calls:?}");
}
