//! Approvals that take their time (B3), and what happens meanwhile (B2, B4, R10).

use std::time::Duration;

use mcp_runtime::{
    ApprovalDecision, ApprovalPolicy, CallOptions, ErrorCode, McpRuntime, ReconnectPolicy,
    RuntimeEvent,
};
use mcp_testkit::{Action, Rule, Script, ServerProcess};
use serde_json::json;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep};

use super::{begin, listing, start};
use crate::host::{Host, SERVER, at_once, stdio, text};

const BUDGET: Duration = Duration::from_millis(500);

/// B3
#[tokio::test]
async fn the_time_of_an_approval_is_not_the_calls() {
    let slow = ApprovalPolicy::ask(|_| async {
        sleep(BUDGET * 2).await;
        ApprovalDecision::Once
    });
    let process = listing(&json!([{"name": "t"}])).command();
    let host = start(slow, stdio(SERVER, &process)).await;
    let options = CallOptions::new().timeout(BUDGET);
    host.call_with("t", options)
        .await
        .expect("approved in time");
    assert_eq!(process.log().count_calls("t"), 1);
    host.end().await;
}

/// B3: then the clock runs on, and what runs out is the same as ever.
#[tokio::test]
async fn an_approval_that_nobody_gives_does_not_hold_a_call_for_ever() {
    let never = ApprovalPolicy::ask(|_| std::future::pending());
    let process = listing(&json!([{"name": "t"}])).command();
    let server = stdio(SERVER, &process).tool_timeout(BUDGET);
    let host = start(never, server.interaction_timeout(BUDGET)).await;
    let begun = Instant::now();
    let error = host.call("t").await.expect_err("nobody approves");
    assert_eq!(error.code(), ErrorCode::RequestTimeout, "{}", text(&error));
    assert!(begun.elapsed() >= BUDGET * 2, "{:?}", begun.elapsed());
    let elapsed = error.request().and_then(|request| request.elapsed());
    assert_eq!(elapsed.map(|elapsed| elapsed.budget()), Some(BUDGET));
    assert_eq!(process.log().count_calls("t"), 0);
    host.end().await;
}

/// An approval that somebody has been asked for.
type Question = oneshot::Sender<ApprovalDecision>;

/// Hands every question on to the test.
fn asking() -> (ApprovalPolicy, mpsc::Receiver<Question>) {
    let (sender, questions) = mpsc::channel(8);
    let policy = ApprovalPolicy::ask(move |_| {
        let (question, answer) = oneshot::channel();
        let asked = sender.try_send(question);
        async move {
            asked.expect("the test listens");
            answer.await.unwrap_or(ApprovalDecision::Deny)
        }
    });
    (policy, questions)
}

async fn asked(questions: &mut mpsc::Receiver<Question>) -> Question {
    at_once(questions.recv()).await.expect("somebody asks")
}

/// A server with the tools `t` and `u`; the first process ends, or changes its tools, when it is called `now`.
fn changing(now: impl IntoIterator<Item = Action>, then: &serde_json::Value) -> ServerProcess {
    let lists = |tools: &serde_json::Value| [Action::Result(json!({"tools": tools}))];
    let first = json!([{"name": "now"}, {"name": "t"}, {"name": "u"}]);
    let script = Script::new()
        .rule(Rule::on("tools/list", lists(&first)).times(1).in_process(1))
        .rule(Rule::on("tools/list", lists(then)))
        .rule(Rule::on_tool("now", now).in_process(1));
    script
        .rule(Rule::on(
            "tools/call",
            [Action::Result(json!({"content": []}))],
        ))
        .command()
}

/// Calls `t`; while its approval is open, the server does `now`, and lists `then`.
async fn check(
    now: impl IntoIterator<Item = Action>,
    then: serde_json::Value,
    changed: impl Fn(&RuntimeEvent) -> bool,
    expected: Option<ErrorCode>,
    why: &str,
) {
    let process = changing(now, &then);
    let (policy, mut questions) = asking();
    let builder = McpRuntime::builder(policy)
        .reconnect(ReconnectPolicy::new().first_pause(Duration::from_millis(10)));
    let server = stdio(SERVER, &process);
    let server = server.tool_approval("now", mcp_runtime::ApprovalMode::Approve);
    let mut host = begin(builder, server).await;
    let (call, now) = (host.prepare("t"), host.prepare("now"));
    let meanwhile = async {
        let question = asked(&mut questions).await;
        let _ = at_once(now.execute(CallOptions::new())).await;
        host.await_event(changed).await;
        // Nobody may be waiting for the answer any more.
        let _ = question.send(ApprovalDecision::Once);
    };
    let (outcome, ()) = tokio::join!(at_once(call.execute(CallOptions::new())), meanwhile);
    let code = outcome.as_ref().err().map(mcp_runtime::CallError::code);
    assert_eq!(code, expected, "{why}: {outcome:?}");
    let sent = usize::from(expected.is_none());
    assert_eq!(process.log().count_calls("t"), sent, "{why}");
    host.end().await;
}

/// B2: what was approved is what was shown, or nothing is sent.
#[tokio::test]
async fn what_changes_while_an_approval_is_open_is_not_called() {
    let announced = || {
        let message = json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
        [
            Action::Send(message),
            Action::Result(json!({"content": []})),
        ]
    };
    let relisted = |event: &RuntimeEvent| matches!(event, RuntimeEvent::CatalogChanged { .. });
    let reconnected = |event: &RuntimeEvent| matches!(event, RuntimeEvent::Reconnected { .. });
    let refused = Some(ErrorCode::CatalogChanged);
    let typed = json!([{"name": "t", "inputSchema": {"type": "object", "required": ["a"]}}]);
    check(announced(), typed, relisted, refused, "its schema").await;
    check(
        announced(),
        json!([{"name": "u"}]),
        relisted,
        refused,
        "it is gone",
    )
    .await;
    let other = json!([{"name": "t"}, {"name": "v"}]);
    check(announced(), other, relisted, None, "only others changed").await;
    let same = json!([{"name": "now"}, {"name": "t"}, {"name": "u"}]);
    let closed = Some(ErrorCode::TransportClosed);
    check(
        [Action::Exit(3)],
        same,
        reconnected,
        closed,
        "another connection",
    )
    .await;
}

/// B4
#[tokio::test]
async fn a_dropped_call_takes_its_approval_back() {
    let process = listing(&json!([{"name": "t"}])).command();
    let (policy, mut questions) = asking();
    let host: Host = start(policy, stdio(SERVER, &process)).await;
    let mut question = {
        let call = host.prepare("t").execute(CallOptions::new());
        tokio::select! {
            outcome = call => panic!("it cannot end: {outcome:?}"),
            question = asked(&mut questions) => question,
        }
    };
    at_once(question.closed()).await;
    assert_eq!(process.log().count_calls("t"), 0);
    host.end().await;
}
