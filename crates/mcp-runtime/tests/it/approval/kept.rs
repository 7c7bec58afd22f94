//! Approvals that outlive their runtime (A1).

use std::fs;
use std::future::ready;

use mcp_runtime::{
    ApprovalDecision, ApprovalFile, ApprovalRecord, ApprovalStore, ApprovalStoreError, Era,
    HandlerFuture, McpRuntime, ReconnectPolicy, ServerConfig,
};
use mcp_testkit::{Action, Rule, Script, ServerProcess};
use serde_json::json;
use tempfile::TempDir;

use super::{Judge, listing, plain};
use crate::host::{Host, SERVER, transport};

fn place() -> TempDir {
    TempDir::with_prefix("approvals-").expect("a temporary directory")
}

fn file_in(place: &TempDir) -> ApprovalFile {
    ApprovalFile::new(place.path().join("approvals.json"))
}

/// How often one is asked about a call of `t` in a new runtime, with one more argument for its server.
async fn asked(
    process: &ServerProcess,
    argument: &str,
    decides: ApprovalDecision,
    place: &TempDir,
) -> usize {
    let stdio = transport(process);
    let args = process
        .args()
        .into_iter()
        .map(|arg| arg.into_string().expect("test paths are text"));
    let stdio = stdio.args(args.chain([argument.to_owned()]));
    let server = ServerConfig::stdio(SERVER.parse().expect("a name"), stdio).era(Era::Legacy);
    let judge = Judge::new(decides);
    let builder = McpRuntime::builder(judge.policy().remembering(file_in(place)));
    let builder = builder.reconnect(ReconnectPolicy::never()).server(server);
    let host = Host::begin(builder).settled().await;
    host.call("t").await.expect("approved");
    host.end().await;
    judge.times()
}

/// A1
#[tokio::test]
async fn what_is_approved_always_is_not_asked_about_in_another_runtime() {
    let (process, place) = (listing(&json!([{"name": "t"}])).command(), place());
    for (argument, decides, expected, why) in [
        ("a", ApprovalDecision::Session, 1, "the session is over"),
        ("a", ApprovalDecision::Always, 1, "always begins now"),
        ("a", ApprovalDecision::Deny, 0, "it was approved always"),
        (
            "b",
            ApprovalDecision::Always,
            1,
            "another launch is another server",
        ),
        ("b", ApprovalDecision::Deny, 0, "and approved always, too"),
        ("a", ApprovalDecision::Deny, 0, "and the first one still is"),
    ] {
        let times = asked(&process, argument, decides, &place).await;
        assert_eq!(times, expected, "{why}");
    }
    fs::remove_file(file_in(&place).path()).expect("a file");
    let times = asked(&process, "a", ApprovalDecision::Once, &place).await;
    assert_eq!(times, 1, "without the file nothing is approved");
}

/// A1
#[tokio::test]
async fn what_was_approved_always_is_asked_about_again_when_its_definition_is_another() {
    let lists = |description: &str| {
        Action::Result(json!({"tools": [{"name": "t", "description": description}]}))
    };
    let script = Script::new()
        .rule(Rule::on("tools/list", [lists("finds")]).in_process(1))
        .rule(Rule::on("tools/list", [lists("deletes")]).in_process(2))
        .rule(Rule::on("tools/list", [lists("finds")]))
        .rule(Rule::on(
            "tools/call",
            [Action::Result(json!({"content": []}))],
        ));
    let (process, place) = (script.command(), place());
    for expected in [1, 1, 0] {
        let times = asked(&process, "a", ApprovalDecision::Always, &place).await;
        assert_eq!(times, expected);
    }
}

/// A1
#[tokio::test]
async fn a_file_that_was_spoilt_asks_again() {
    let (process, place) = (listing(&json!([{"name": "t"}])).command(), place());
    fs::write(file_in(&place).path(), "{\"version\":1,\"appro").expect("a file");
    for expected in [1, 0] {
        let times = asked(&process, "a", ApprovalDecision::Always, &place).await;
        assert_eq!(times, expected);
    }
}

/// Cannot be read or written.
struct Broken;

impl ApprovalStore for Broken {
    fn contains<'a>(
        &'a self,
        _: &'a ApprovalRecord,
    ) -> HandlerFuture<'a, Result<bool, ApprovalStoreError>> {
        Box::pin(ready(Err(ApprovalStoreError::new("the disk is full"))))
    }

    fn insert<'a>(
        &'a self,
        _: &'a ApprovalRecord,
    ) -> HandlerFuture<'a, Result<(), ApprovalStoreError>> {
        Box::pin(ready(Err(ApprovalStoreError::new("the disk is full"))))
    }
}

/// A1: what cannot be kept is approved all the same.
#[tokio::test]
async fn a_store_that_fails_costs_questions_and_no_call() {
    let judge = Judge::new(ApprovalDecision::Always);
    let (host, process) = plain(judge.policy().remembering(Broken)).await;
    for _ in 0..2 {
        host.call("t").await.expect("approved");
    }
    assert_eq!(judge.times(), 1, "the runtime knows it");
    assert_eq!(process.log().count_calls("t"), 2);
    host.end().await;
}
