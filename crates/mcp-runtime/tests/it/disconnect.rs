//! Connections that end, and servers that are gone afterwards (R10).

use mcp_runtime::{CallOptions, ErrorCode, RuntimeEvent, ServerState};
use mcp_testkit::{Action, Script};

use crate::host::{Host, SERVER, at_once, logged, text, with_tool};

/// A server that does this when its tool is called, and then never answers it.
async fn check(does: impl IntoIterator<Item = Action>, said: &str) {
    let script = with_tool(Script::new(), "last", does);
    let (mut host, process) = Host::play(&script).await;
    let first = host.call("last");
    let prepared = host.prepare("last");
    let second = async {
        logged(&process.log(), |log| log.count_calls("last") == 1).await;
        // A closed input shows at the next message only, so there is one; a connection that is over refuses it.
        let called = at_once(prepared.execute(CallOptions::new())).await;
        called.expect_err("nobody answers")
    };
    let (first, second) = tokio::join!(first, second);
    for error in [first.expect_err("nobody answers"), second] {
        assert_eq!(error.code(), ErrorCode::TransportClosed, "{}", text(&error));
    }
    host.await_event(|event| matches!(event, RuntimeEvent::Disconnected { .. }))
        .await;
    let why = match host.state(SERVER) {
        ServerState::Disconnected(outage) => Some(outage.to_string()),
        _ => None,
    };
    let why = why.expect("it does not count as connected");
    assert!(why.contains(said), "{why}");
    assert_eq!(
        host.tools(),
        Vec::<String>::new(),
        "nothing of it is offered"
    );
    host.end().await;
    at_once(process.log().expect_all_gone()).await;
}

/// R10: whichever way a server leaves, its calls fail at once and it is no longer offered.
#[tokio::test]
async fn a_server_that_is_gone_is_not_offered() {
    check([Action::CloseInput], "standard input").await;
    check([Action::CloseOutput], "standard output").await;
    check([Action::Exit(3)], "exited with status 3").await;
}

/// R11
#[tokio::test]
async fn nothing_is_ready_after_a_shutdown() {
    let (host, _process) = Host::play(&Script::new().tool_named("search")).await;
    host.end().await;
    let disconnected = async {
        while !matches!(host.state(SERVER), ServerState::Disconnected { .. }) {
            tokio::task::yield_now().await;
        }
    };
    at_once(disconnected).await;
    assert_eq!(host.tools(), Vec::<String>::new());
}
