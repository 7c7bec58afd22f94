//! What a configuration says of approvals (A1).

use mcp_runtime::{ApprovalDecision, ApprovalMode, ApprovalPolicy, ServerConfig};
use serde_json::{Value, json};

use super::{Judge, listing, refused, start};
use crate::host::{SERVER, stdio};

/// What becomes of a call.
#[derive(Debug, Clone, Copy)]
enum Fate {
    Runs,
    Asks,
    Refused(&'static str),
}

const HARMLESS: &str = r#"{"readOnlyHint":true}"#;

/// Calls `t` with these annotations, with somebody to be asked and with nobody.
async fn check(
    configured: impl Fn(ServerConfig) -> ServerConfig,
    annotations: &str,
    with_approver: Fate,
    approving_all: Fate,
    why: &str,
) {
    let annotations: Value = serde_json::from_str(annotations).expect("JSON");
    let script = listing(&json!([{"name": "t", "annotations": annotations}]));
    let judge = Judge::new(ApprovalDecision::Once);
    for (policy, fate) in [
        (judge.policy(), with_approver),
        (ApprovalPolicy::approve_all(), approving_all),
    ] {
        let process = script.command();
        let host = start(policy, configured(stdio(SERVER, &process))).await;
        let outcome = host.call("t").await;
        let asked = match fate {
            Fate::Refused(kind) => {
                refused(outcome, kind);
                0
            }
            fate => {
                outcome.expect(why);
                usize::from(matches!(fate, Fate::Asks))
            }
        };
        assert_eq!(judge.times(), asked, "{why}: {fate:?}");
        let sent = usize::from(!matches!(fate, Fate::Refused(_)));
        assert_eq!(process.log().count_calls("t"), sent, "{why}: {fate:?}");
        host.end().await;
    }
}

/// A1
#[tokio::test]
async fn a_mode_refines_the_policy_of_the_host() {
    let nobody = Fate::Refused("NoApprover");
    let denied = Fate::Refused("Mode");
    let server = |mode| move |server: ServerConfig| server.approval(mode);
    check(
        |server| server,
        HARMLESS,
        Fate::Asks,
        Fate::Runs,
        "the policy alone",
    )
    .await;
    check(
        server(ApprovalMode::Prompt),
        HARMLESS,
        Fate::Asks,
        nobody,
        "prompt",
    )
    .await;
    check(
        server(ApprovalMode::Approve),
        "{}",
        Fate::Runs,
        Fate::Runs,
        "approve",
    )
    .await;
    check(server(ApprovalMode::Deny), HARMLESS, denied, denied, "deny").await;
    let tool = |server: ServerConfig| {
        let server = server.approval(ApprovalMode::Approve);
        server
            .tool_approval("t", ApprovalMode::Deny)
            .tool_approval("u", ApprovalMode::Approve)
    };
    check(tool, HARMLESS, denied, denied, "the tool's own mode").await;
}

/// A1
#[tokio::test]
async fn auto_believes_what_the_server_says_of_its_tool() {
    let nobody = Fate::Refused("NoApprover");
    for (annotations, runs) in [
        (HARMLESS, true),
        (r#"{"readOnlyHint":true,"destructiveHint":false}"#, true),
        (r#"{"readOnlyHint":true,"destructiveHint":true}"#, false),
        (r#"{"destructiveHint":false}"#, false),
        (r#"{"readOnlyHint":"true"}"#, false),
        (r#"{"readOnlyHint":1}"#, false),
        ("[true]", false),
        ("{}", false),
        ("null", false),
    ] {
        let (asked, all) = if runs {
            (Fate::Runs, Fate::Runs)
        } else {
            (Fate::Asks, nobody)
        };
        let auto = |server: ServerConfig| server.approval(ApprovalMode::Auto);
        check(auto, annotations, asked, all, annotations).await;
    }
}
