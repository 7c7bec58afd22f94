//! What happens meanwhile (B2, B3, B4).

use std::sync::{Arc, OnceLock, Weak};

use mcp_runtime::{
    ApprovalDecision, ApprovalPolicy, CallErrorKind, CallOptions, ErrorCode, HookAnswer,
    IntendedCall, McpRuntime, RuntimeEvent,
};
use mcp_testkit::{Action, Rule, Script};
use serde_json::json;
use tokio::sync::{mpsc, oneshot};

use super::Stage;
use crate::host::{Host, SERVER, at_once, builder, raw, stdio, with_tool};

/// A policy that asks somebody whom the test plays.
fn somebody() -> (
    ApprovalPolicy,
    mpsc::Receiver<oneshot::Sender<ApprovalDecision>>,
) {
    let (asked, questions) = mpsc::channel(8);
    let policy = ApprovalPolicy::ask(move |_request| {
        let (answer, answered) = oneshot::channel();
        asked.try_send(answer).expect("the test is there");
        async { answered.await.expect("the test answers") }
    });
    (policy, questions)
}

/// B2: what was approved is what is sent.
#[tokio::test]
async fn a_tool_that_changes_while_somebody_thinks_is_not_called() {
    let tool =
        |text: &str| json!({"name": "t", "description": text, "inputSchema": {"type": "object"}});
    let change = || json!({"name": "change", "inputSchema": {"type": "object"}});
    let first = Action::Result(json!({"tools": [tool("finds"), change()]}));
    let then = Action::Result(json!({"tools": [tool("deletes"), change()]}));
    let changed =
        Action::Send(json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}));
    let script = Script::new()
        .rule(Rule::on("tools/list", [first]).times(1))
        .rule(Rule::on("tools/list", [then]));
    let process = with_tool(script, "change", [changed, Action::Standard]).command();
    let (policy, mut questions) = somebody();
    let server =
        stdio(SERVER, &process).tool_approval("change", mcp_runtime::ApprovalMode::Approve);
    let host = Host::begin(McpRuntime::builder(policy).server(server));
    let mut host = host.settled().await;
    let call = tokio::spawn(host.prepare("t").execute(CallOptions::new()));
    let answer = at_once(questions.recv()).await.expect("it is asked");
    host.call("change").await.expect("a result");
    host.await_event(|event| matches!(event, RuntimeEvent::CatalogChanged { .. }))
        .await;
    answer.send(ApprovalDecision::Once).expect("somebody waits");
    let error = at_once(call)
        .await
        .expect("no panic")
        .expect_err("it changed");
    assert!(
        matches!(error.kind(), CallErrorKind::CatalogChanged),
        "{error:?}"
    );
    assert_eq!(process.log().count_calls("t"), 0);
    host.end().await;
}

/// H1: no lock is held while a hook runs.
#[tokio::test]
async fn a_hook_may_call_the_runtime() {
    let runtime: Arc<OnceLock<Weak<McpRuntime>>> = Arc::default();
    let of_hook = runtime.clone();
    let hook = move |call: IntendedCall| {
        let runtime = of_hook.get().and_then(Weak::upgrade).expect("it runs");
        async move {
            if call.key().tool().as_str() != "t" {
                return HookAnswer::proceed();
            }
            let inner = runtime
                .capture()
                .prepare_tool(SERVER, None, "u")
                .expect("it is there");
            let output = inner.execute(CallOptions::new()).await.expect("a result");
            HookAnswer::proceed().context(output.text())
        }
    };
    let process = Script::new().tool_named("t").tool_named("u").command();
    let (started, _events) = builder()
        .hook(hook)
        .server(stdio(SERVER, &process))
        .start()
        .expect("sound");
    let started = Arc::new(started);
    runtime.set(Arc::downgrade(&started)).expect("once");
    at_once(started.settled()).await;
    let call = started
        .capture()
        .prepare_tool(SERVER, None, "t")
        .expect("it is there");
    let output = at_once(call.execute(CallOptions::new().arguments(raw("{}")))).await;
    assert_eq!(output.expect("a result").context(), ["u"]);
    at_once(started.shutdown(McpRuntime::DEFAULT_SHUTDOWN_TIMEOUT)).await;
}

/// B4
#[tokio::test]
async fn a_dropped_call_takes_back_what_was_asked_for_it() {
    let (policy, mut questions) = somebody();
    let stage = Stage::set(McpRuntime::builder(policy)).await;
    let call = tokio::spawn(stage.host.prepare("t").execute(CallOptions::new()));
    let mut answer = at_once(questions.recv()).await.expect("it is asked");
    call.abort();
    at_once(answer.closed()).await;
    assert_eq!(stage.calls(), 0);
    stage.end().await;
}

/// T1
#[tokio::test]
async fn what_nobody_lets_pass_has_one_code() {
    let stage = Stage::set(builder().hook(|_call| async { HookAnswer::deny("no") })).await;
    let error = stage.call(CallOptions::new()).await.expect_err("blocked");
    assert_eq!(error.code(), ErrorCode::Blocked);
    assert_eq!(
        crate::host::text(&error),
        "calling `t` of server `scripted` failed: the call was blocked: a hook said no: no"
    );
    stage.end().await;
}
