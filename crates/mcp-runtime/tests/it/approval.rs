//! Who approves calls, and for how long (A1).

mod clock;
mod kept;
mod mode;
mod scope;

use std::sync::{Arc, Mutex};

use mcp_runtime::{
    ApprovalDecision, ApprovalPolicy, Approver, CallError, CallOptions, ErrorCode, HandlerFuture,
    Invocation, McpRuntime, McpRuntimeBuilder, ReconnectPolicy, ServerConfig, ToolOutput,
};
use mcp_testkit::{Action, Rule, Script, ServerProcess};
use serde_json::{Value, json};

use crate::host::{Host, SERVER, stdio};

/// Decides always the same, and writes down about what.
#[derive(Debug, Clone)]
struct Judge {
    decides: ApprovalDecision,
    asked: Arc<Mutex<Vec<Invocation>>>,
}

impl Judge {
    fn new(decides: ApprovalDecision) -> Self {
        Self {
            decides,
            asked: Arc::default(),
        }
    }

    fn policy(&self) -> ApprovalPolicy {
        ApprovalPolicy::ask(self.clone())
    }

    fn asked(&self) -> Vec<Invocation> {
        self.asked
            .lock()
            .expect("no panic while it is held")
            .clone()
    }

    /// How often it was asked since it was asked this the last time.
    fn times(&self) -> usize {
        let mut asked = self.asked.lock().expect("no panic while it is held");
        std::mem::take(&mut *asked).len()
    }
}

impl Approver for Judge {
    fn approve(&self, call: Invocation) -> HandlerFuture<'_, ApprovalDecision> {
        Box::pin(async move {
            self.asked
                .lock()
                .expect("no panic while it is held")
                .push(call);
            self.decides
        })
    }
}

/// A server that lists these tools, and answers each of them.
fn listing(tools: &Value) -> Script {
    let script = Script::new().rule(Rule::on(
        "tools/list",
        [Action::Result(json!({"tools": tools}))],
    ));
    script.rule(Rule::on(
        "tools/call",
        [Action::Result(json!({"content": []}))],
    ))
}

/// A host with this policy and one server.
async fn start(policy: ApprovalPolicy, server: ServerConfig) -> Host {
    let builder = McpRuntime::builder(policy).reconnect(ReconnectPolicy::never());
    begin(builder, server).await
}

async fn begin(builder: McpRuntimeBuilder, server: ServerConfig) -> Host {
    Host::begin(builder.server(server)).settled().await
}

/// A host with this policy, and a server with one plain tool `t`.
async fn plain(policy: ApprovalPolicy) -> (Host, ServerProcess) {
    let process = listing(&json!([{"name": "t"}])).command();
    (start(policy, stdio(SERVER, &process)).await, process)
}

/// A call that was refused by name.
#[track_caller]
fn refused(outcome: Result<ToolOutput, CallError>, kind: &str) {
    let error = outcome.expect_err("it is refused");
    assert_eq!(error.code(), ErrorCode::Blocked);
    assert_eq!(format!("{:?}", error.kind()), format!("Blocked({kind})"));
}

/// A1, H1: what is approved is what is sent.
#[tokio::test]
async fn an_approver_sees_what_it_approves() {
    let judge = Judge::new(ApprovalDecision::Once);
    let process = listing(&json!([{"name": "t", "description": "does"}])).command();
    let hook = |_| async {
        mcp_runtime::HookOutput::proceed().arguments(crate::host::raw(r#"{"n":1e2}"#))
    };
    let builder = McpRuntime::builder(judge.policy()).hook(hook);
    let host = begin(builder, stdio(SERVER, &process)).await;
    let call = host.prepare("t");
    let (id, digest) = (call.id(), call.definition_digest());
    crate::host::at_once(call.execute(CallOptions::new()))
        .await
        .expect("approved");
    let asked = judge.asked();
    let [asked] = asked.as_slice() else {
        panic!("{asked:?}")
    };
    assert_eq!(asked.key().to_string(), "scripted/t");
    assert_eq!(asked.environment().as_str(), "local", "the primary one");
    assert_eq!(asked.arguments().get(), r#"{"n":1e2}"#);
    assert_eq!(asked.tool().description().as_deref(), Some("does"));
    assert_eq!((asked.id(), asked.definition_digest()), (id, digest));
    assert!(
        process
            .log()
            .lines()
            .iter()
            .any(|line| line.contains(r#""arguments":{"n":1e2}"#))
    );
    host.end().await;
}

/// A1: how often one is asked, with a decision that is for once and with one that is for longer.
#[tokio::test]
async fn a_decision_holds_for_as_long_as_it_says() {
    for (decides, asked) in [
        (ApprovalDecision::Once, 3),
        (ApprovalDecision::Session, 1),
        (ApprovalDecision::Always, 1),
    ] {
        let judge = Judge::new(decides);
        let (host, process) = plain(judge.policy()).await;
        for _ in 0..3 {
            host.call("t").await.expect("approved");
        }
        assert_eq!(judge.times(), asked, "{decides:?}");
        host.end().await;
        assert_eq!(process.log().count_calls("t"), 3);
        // Without a store, always ends with the runtime.
        let (host, _process) = plain(judge.policy()).await;
        host.call("t").await.expect("approved");
        assert_eq!(judge.times(), 1, "{decides:?}");
        host.end().await;
    }
}

/// A1
#[tokio::test]
async fn a_call_that_is_denied_is_not_sent_and_the_next_one_asks_again() {
    let judge = Judge::new(ApprovalDecision::Deny);
    let (host, process) = plain(judge.policy()).await;
    for _ in 0..2 {
        refused(host.call("t").await, "Approval");
    }
    assert_eq!(judge.times(), 2);
    assert_eq!(process.log().count_calls("t"), 0);
    host.end().await;
}

/// A1
#[tokio::test]
async fn an_approver_that_panics_has_denied() {
    let (host, process) = plain(ApprovalPolicy::ask(|_| async { panic!("on purpose") })).await;
    refused(host.call("t").await, "Panicked { handler: Approver }");
    assert_eq!(process.log().count_calls("t"), 0);
    host.end().await;
}
