//! Calls that never reach a server.

use mcp_runtime::{
    Access, ApprovalMode, CallOptions, HookOutput, Invocation, McpRuntimeBuilder, ReconnectPolicy,
    RuntimeEvent,
};
use mcp_testkit::{Action, ExportedTelemetry, Rule, Script};
use serde_json::json;

use super::{Watched, calls, watched};
use crate::host::{Host, SERVER, at_once, stdio};

async fn check(host: impl FnOnce(McpRuntimeBuilder) -> McpRuntimeBuilder, why: &str) {
    let watched = Watched::play_for(host, &Script::new().tool_named("t")).await;
    watched.host.call("t").await.expect_err(why);
    watched.check(Some(("blocked", "blocked")), why);
    assert_eq!(watched.process.log().count_calls("t"), 0, "{why}");
    watched.host.end().await;
}

/// T1, H1, L1
#[tokio::test]
async fn a_refusal_is_recorded_as_one() {
    let deny = |_: Invocation| async { HookOutput::deny("no") };
    check(|builder| builder.hook(deny), "a hook").await;
    let refuse = |_: Invocation| async { Access::refuse("no") };
    check(|builder| builder.access(refuse), "an access lookup").await;
}

/// T1, A1
#[tokio::test]
async fn what_is_not_approved_is_recorded_as_blocked() {
    let exported = ExportedTelemetry::begin();
    let process = Script::new().tool_named("t").command();
    let server = stdio(SERVER, &process).approval(ApprovalMode::Deny);
    let host = Host::begin(watched(&exported).server(server))
        .settled()
        .await;
    host.call("t").await.expect_err("it is denied");
    let calls = calls(&exported);
    assert_eq!(calls.len(), 1, "{calls:?}");
    assert!(calls[0].contains(" error.type=blocked "), "{calls:?}");
    host.end().await;
}

/// B2
#[tokio::test]
async fn a_tool_that_changed_since_is_recorded_as_that() {
    let changed = json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
    let tools = |description| {
        let tool = json!({"name": "t", "description": description});
        Action::Result(json!({"tools": [tool, {"name": "change"}]}))
    };
    let script = Script::new()
        .rule(Rule::on("tools/list", [tools("old")]).times(1))
        .rule(Rule::on("tools/list", [tools("new")]))
        .rule(Rule::on_tool(
            "change",
            [Action::Result(json!({})), Action::Send(changed)],
        ));
    let mut watched = Watched::play(&script).await;
    let prepared = watched.host.prepare("t");
    watched.host.call("change").await.unwrap();
    let is_change = |event: &RuntimeEvent| matches!(event, RuntimeEvent::CatalogChanged { .. });
    watched.host.await_event(is_change).await;
    at_once(prepared.execute(CallOptions::new()))
        .await
        .expect_err("it changed");
    let calls = watched.calls();
    assert_eq!(calls.len(), 2, "{calls:?}");
    assert!(
        calls[1].contains(" error.type=catalog_changed "),
        "{calls:?}"
    );
    watched.host.end().await;
}

/// T1, T6: what leads to no tool is recorded, and not what it was called.
#[tokio::test]
async fn a_name_that_leads_nowhere_is_recorded_without_the_name() {
    let watched = Watched::play(&Script::new().tool_named("t")).await;
    let binding = watched.host.runtime.capture();
    binding
        .prepare("mcp__invented__name")
        .expect_err("no such tool");
    binding
        .prepare_tool("invented", None, "t")
        .expect_err("no such server");
    binding
        .prepare_tool(SERVER, Some("invented"), "t")
        .expect_err("no such environment");
    binding
        .prepare_tool(SERVER, None, "invented")
        .expect_err("no such tool");
    let nowhere = "tools/call Client error error.type=invalid_request gen_ai.operation.name=execute_tool mcp.error.code=invalid_request mcp.method.name=tools/call";
    let of_server = format!("{nowhere} mcp.server.name={SERVER} network.transport=pipe");
    assert_eq!(watched.calls(), [nowhere, nowhere, nowhere, &of_server]);
    let errors = watched.exported.points("mcp.client.call.errors");
    let invalid = "error.type=invalid_request mcp.error.code=invalid_request";
    let expected = [
        format!("1 {invalid} mcp.server.name={SERVER}"),
        format!("3 {invalid}"),
    ];
    assert_eq!(errors, expected);
    watched.host.end().await;
}

/// R10
#[tokio::test]
async fn a_call_of_a_server_that_is_gone_is_recorded() {
    let exported = ExportedTelemetry::begin();
    let gone = stdio(
        "gone",
        &Script::new()
            .rule(Rule::at_start([Action::Exit(3)]))
            .command(),
    );
    let builder = watched(&exported).reconnect(ReconnectPolicy::never());
    let host = Host::begin(builder.server(gone));
    at_once(host.runtime.settled()).await;
    let binding = host.runtime.capture();
    binding
        .prepare_tool("gone", None, "t")
        .expect_err("it never started");
    let calls = calls(&exported);
    assert_eq!(calls.len(), 1, "{calls:?}");
    assert!(
        calls[0].contains(" error.type=transport_closed "),
        "{calls:?}"
    );
    assert!(calls[0].contains(" mcp.server.name=gone "), "{calls:?}");
    host.end().await;
}
