//! What an approval is for (A1): one tool of one server in one environment, as it was defined.

use mcp_runtime::{ApprovalDecision, CallOptions, McpRuntime};
use mcp_testkit::{Action, Rule, Script};
use serde_json::{Value, json};

use super::{Judge, start};
use crate::host::{SERVER, at_once, stdio};
use crate::pair::{DEVBOX, LOCAL, Pair};

/// A1
#[tokio::test]
async fn approving_a_tool_of_one_environment_approves_no_namesake() {
    let judge = Judge::new(ApprovalDecision::Always);
    let pair = Pair::start(McpRuntime::builder(judge.policy())).await;
    for (environment, asked) in [(LOCAL, 1), (LOCAL, 0), (DEVBOX, 1), (DEVBOX, 0)] {
        let output = pair.search(environment, CallOptions::new()).await;
        output.expect("approved");
        let keys = judge.asked();
        let keys = keys.iter().map(|call| call.key().server());
        assert!(
            keys.into_iter()
                .all(|key| *key == crate::pair::docs_in(environment))
        );
        assert_eq!(judge.times(), asked, "{environment}");
    }
    pair.host.end().await;
}

/// A1
#[tokio::test]
async fn a_changed_definition_asks_again() {
    let plain = json!({"name": "t", "description": "finds", "inputSchema": {"type": "object"}, "_meta": {"n": 1}});
    let with = |member: &str, value: Value| {
        let mut tool = plain.clone();
        tool[member] = value;
        tool
    };
    for (tool, asks) in [
        (plain.clone(), false),
        (with("_meta", json!({"n": 2})), false),
        (with("description", json!("finds, and deletes")), true),
        (
            with("inputSchema", json!({"type": "object", "required": ["a"]})),
            true,
        ),
        (with("outputSchema", json!({})), true),
        (with("annotations", json!({"readOnlyHint": true})), true),
        (with("title", json!("Find")), true),
    ] {
        let lists = |tool: &Value| [Action::Result(json!({"tools": [tool]}))];
        let script = Script::new()
            .rule(Rule::on("tools/list", lists(&plain)).times(1))
            .rule(Rule::on("tools/list", lists(&tool)))
            .rule(Rule::on(
                "tools/call",
                [Action::Result(json!({"content": []}))],
            ));
        let judge = Judge::new(ApprovalDecision::Session);
        let process = script.command();
        let host = start(judge.policy(), stdio(SERVER, &process)).await;
        host.call("t").await.expect("approved");
        assert_eq!(judge.times(), 1);
        at_once(host.runtime.refresh(SERVER))
            .await
            .expect("a listing");
        host.call("t").await.expect("approved");
        assert_eq!(judge.times(), usize::from(asks), "{tool}");
        host.end().await;
    }
}
