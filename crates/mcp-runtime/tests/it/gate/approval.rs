//! Who says yes (A1).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mcp_runtime::{
    ApprovalDecision, ApprovalMode, ApprovalPolicy, ApprovalRequest, Blocked, CallOptions,
    Environment, ErrorCode, McpRuntime, MultiEnvironment, ServerConfig,
};
use mcp_testkit::{Script, ServerProcess};
use serde_json::json;

use super::Stage;
use crate::host::{Host, SERVER, at_once, raw, stdio};

/// Counts how often somebody is asked.
#[derive(Clone, Default)]
pub(super) struct Asked(Arc<AtomicUsize>);

impl Asked {
    /// A policy that asks somebody who always decides like this.
    pub(super) fn policy(&self, decision: ApprovalDecision) -> ApprovalPolicy {
        let asked = self.clone();
        ApprovalPolicy::ask(move |_request| {
            asked.0.fetch_add(1, Ordering::SeqCst);
            async move { decision }
        })
    }

    pub(super) fn times(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

/// A1
#[tokio::test]
async fn a_decision_holds_as_long_as_it_says() {
    for (decision, asked_in_three_calls) in [
        (ApprovalDecision::Once, 3),
        (ApprovalDecision::Session, 1),
        (ApprovalDecision::Always, 1),
    ] {
        let asked = Asked::default();
        let stage = Stage::set(McpRuntime::builder(asked.policy(decision))).await;
        for _ in 0..3 {
            stage.call(CallOptions::new()).await.expect("a result");
        }
        assert_eq!(asked.times(), asked_in_three_calls, "{decision:?}");
        stage.host.call("u").await.expect("a result");
        assert_eq!(
            asked.times(),
            asked_in_three_calls + 1,
            "another tool is asked for by itself"
        );
        stage.end().await;
    }
}

/// A1
#[tokio::test]
async fn without_a_yes_nothing_is_sent() {
    let asked = Asked::default();
    let stage = Stage::set(McpRuntime::builder(asked.policy(ApprovalDecision::Deny))).await;
    assert_eq!(stage.blocked().await, Blocked::NotApproved);
    assert_eq!(stage.blocked().await, Blocked::NotApproved);
    assert_eq!(asked.times(), 2, "a no is not remembered");
    stage.end().await;

    let panics = ApprovalPolicy::ask(|_request| async { panic!("on purpose") });
    let stage = Stage::set(McpRuntime::builder(panics)).await;
    assert_eq!(
        stage.blocked().await,
        Blocked::Panicked {
            handler: "approver"
        }
    );
    stage.end().await;
}

/// A1
#[tokio::test]
async fn an_approver_sees_what_would_be_sent() {
    let policy = ApprovalPolicy::ask(|request: ApprovalRequest| async move {
        assert_eq!(request.call().arguments().get(), r#"{"by":"the hook"}"#);
        assert_eq!(request.call().key().server().name().as_str(), SERVER);
        assert_eq!(request.definition_digest().to_string().len(), 64);
        ApprovalDecision::Once
    });
    let hook =
        |_call| async { mcp_runtime::HookAnswer::proceed().arguments(raw(r#"{"by":"the hook"}"#)) };
    let stage = Stage::set(McpRuntime::builder(policy).hook(hook)).await;
    assert_eq!(stage.sent().await["arguments"], json!({"by": "the hook"}));
    stage.end().await;
}

/// Whether a call of a tool passes, with what it says of itself and what is configured for it; and whether somebody was
/// asked.
async fn check(
    annotations: serde_json::Value,
    configure: fn(ServerConfig) -> ServerConfig,
    policy: fn(&Asked) -> ApprovalPolicy,
    expected: Result<usize, Blocked>,
    why: &str,
) {
    let definition =
        json!({"name": "t", "inputSchema": {"type": "object"}, "annotations": annotations});
    let process = Script::new().tool(definition).command();
    let asked = Asked::default();
    let server = configure(stdio(SERVER, &process));
    let host = Host::begin(McpRuntime::builder(policy(&asked)).server(server));
    let host = host.settled().await;
    let outcome = match host.call("t").await {
        Ok(_) => Ok(asked.times()),
        Err(error) => match error.kind() {
            mcp_runtime::CallErrorKind::Blocked(blocked) => Err(blocked.clone()),
            other => panic!("{why}: {other:?}"),
        },
    };
    assert_eq!(outcome, expected, "{why}");
    host.end().await;
}

/// A1
#[tokio::test]
async fn modes_refine_the_policy() {
    use ApprovalMode::{Approve, Auto, Deny, Prompt};
    let ask = |asked: &Asked| asked.policy(ApprovalDecision::Once);
    let all = |_: &Asked| ApprovalPolicy::approve_all();
    let reads = || json!({"readOnlyHint": true});
    check(json!(null), |s| s, ask, Ok(1), "the policy asks").await;
    check(json!(null), |s| s, all, Ok(0), "the policy lets pass").await;
    check(
        json!(null),
        |s| s.approval(Approve),
        ask,
        Ok(0),
        "the server's mode",
    )
    .await;
    check(
        json!(null),
        |s| s.approval(Deny).tool_approval("t", Approve),
        ask,
        Ok(0),
        "the tool's before it",
    )
    .await;
    check(
        json!(null),
        |s| s.tool_approval("t", Deny),
        all,
        Err(Blocked::ByConfiguration),
        "denied",
    )
    .await;
    check(
        json!(null),
        |s| s.approval(Prompt),
        all,
        Err(Blocked::NobodyToApprove),
        "nobody to ask",
    )
    .await;
    check(
        reads(),
        |s| s.approval(Auto),
        ask,
        Ok(0),
        "it says that it reads",
    )
    .await;
    check(
        reads(),
        |s| s.approval(Auto),
        all,
        Ok(0),
        "and needs nobody",
    )
    .await;
    check(json!({}), |s| s.approval(Auto), ask, Ok(1), "it does not").await;
    check(
        json!({}),
        |s| s.approval(Auto),
        all,
        Err(Blocked::NobodyToApprove),
        "and there is nobody",
    )
    .await;
    check(
        reads(),
        |s| s.tool_approval("other", Deny),
        ask,
        Ok(1),
        "another tool's",
    )
    .await;
}

fn docs(process: &ServerProcess) -> ServerConfig {
    stdio("docs", process)
}

/// A1: the user's document calls for independent approvals.
#[tokio::test]
async fn approving_a_tool_in_one_environment_does_not_approve_its_namesake_in_another() {
    let (one, other) = (
        Script::new().tool_named("search").command(),
        Script::new().tool_named("search").command(),
    );
    let asked = Asked::default();
    let environment =
        |id: &str, process| Environment::new(id.parse().expect("an id")).server(docs(process));
    let builder = McpRuntime::builder(asked.policy(ApprovalDecision::Always))
        .multi_environment(MultiEnvironment::On)
        .environment(environment("devbox", &one))
        .environment(environment("ci", &other));
    let host = Host::begin(builder).settled().await;
    for (environment, asked_by_then) in [
        ("devbox", 1),
        ("devbox", 1),
        ("ci", 2),
        ("ci", 2),
        ("devbox", 2),
    ] {
        let call = host
            .runtime
            .capture()
            .prepare_tool("docs", Some(environment), "search");
        let call = call.expect("it is there");
        at_once(call.execute(CallOptions::new()))
            .await
            .expect("a result");
        assert_eq!(asked.times(), asked_by_then, "{environment}");
    }
    host.end().await;
}

/// A1, R10: nobody has to say yes to a call that cannot be made any more.
#[tokio::test]
async fn a_call_that_waits_for_approval_fails_with_its_server() {
    let (asked, mut is_asked) = tokio::sync::mpsc::channel::<()>(1);
    let policy = ApprovalPolicy::ask(move |_request| {
        let _ = asked.try_send(());
        std::future::pending()
    });
    let stage = Stage::set(McpRuntime::builder(policy)).await;
    let call = tokio::spawn(stage.host.prepare("t").execute(CallOptions::new()));
    at_once(is_asked.recv()).await.expect("it is asked");
    stage.host.end().await;
    let error = at_once(call)
        .await
        .expect("no panic")
        .expect_err("it is gone");
    assert_eq!(error.code(), ErrorCode::TransportClosed);
    assert_eq!(stage.calls(), 0);
}
