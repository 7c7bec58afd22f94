//! Approvals that outlive a runtime (A1).

use mcp_runtime::{
    ApprovalDecision, CallOptions, FileApprovalStore, HandlerFuture, McpRuntime, StdioTransport,
    StoreError, StoredApproval,
};
use mcp_testkit::Script;
use serde_json::json;
use tempfile::TempDir;

use super::Stage;
use super::approval::Asked;
use crate::host::{Host, SERVER};

/// A run of a host: starts the script with these arguments more, and calls the tool once; how often somebody was asked.
async fn run(description: &str, more: &[&str], dir: &TempDir) -> usize {
    let tool = json!({"name": "t", "description": description, "inputSchema": {"type": "object"}});
    let process = Script::new().tool(tool).command();
    let asked = Asked::default();
    let store = FileApprovalStore::new(dir.path().join("approvals.json"));
    let policy = asked.policy(ApprovalDecision::Always).store(store);
    // The same program each time, whatever the script: what it plays is in its environment.
    let mut stdio =
        StdioTransport::new("sh").env("PROGRAM", process.program().to_str().expect("text"));
    let args: Vec<String> = process
        .args()
        .into_iter()
        .map(|arg| arg.into_string().expect("text"))
        .collect();
    stdio = stdio.env("SCRIPT", args.join(" "));
    let command = ["-c", "exec \"$PROGRAM\" $SCRIPT"];
    let stdio = stdio.args(command.into_iter().chain(more.iter().copied()));
    let server = mcp_runtime::ServerConfig::stdio(SERVER.parse().expect("a name"), stdio);
    let server = server.era(mcp_runtime::Era::Legacy);
    let host = Host::begin(McpRuntime::builder(policy).server(server));
    let host = host.settled().await;
    host.call("t").await.expect("a result");
    host.end().await;
    asked.times()
}

/// A1
#[cfg(unix)]
#[tokio::test]
async fn an_approval_for_good_holds_for_the_same_tool_of_the_same_program() {
    let dir = TempDir::with_prefix("approvals-").expect("a directory");
    assert_eq!(
        run("finds", &[], &dir).await,
        1,
        "nobody has approved it yet"
    );
    assert_eq!(run("finds", &[], &dir).await, 0, "approved");
    assert_eq!(
        run("finds and deletes", &[], &dir).await,
        1,
        "another definition"
    );
    assert_eq!(run("finds", &["--more"], &dir).await, 1, "another program");
    assert_eq!(run("finds", &[], &dir).await, 0, "still approved");
}

/// A store that can do nothing.
struct Broken;

impl mcp_runtime::ApprovalStore for Broken {
    fn contains<'a>(
        &'a self,
        _: &'a StoredApproval,
    ) -> HandlerFuture<'a, Result<bool, StoreError>> {
        Box::pin(async { Err("no".into()) })
    }

    fn insert(&self, _: StoredApproval) -> HandlerFuture<'_, Result<(), StoreError>> {
        Box::pin(async { Err("no".into()) })
    }
}

/// A1
#[tokio::test]
async fn what_cannot_be_kept_holds_until_the_runtime_ends() {
    let asked = Asked::default();
    let policy = asked.policy(ApprovalDecision::Always).store(Broken);
    let stage = Stage::set(McpRuntime::builder(policy)).await;
    for _ in 0..2 {
        stage.call(CallOptions::new()).await.expect("a result");
    }
    assert_eq!(asked.times(), 1);
    stage.end().await;
}
