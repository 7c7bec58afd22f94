//! Calls that nobody waits for any more (B3, B4).

use std::time::Duration;

use mcp_runtime::{CallOptions, ErrorCode, ServerConfig};
use mcp_testkit::{Action, Script, ServerLog};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::host::{Host, SERVER, logged, stdio, with_tool};

/// The server was told once that this call is over, and of no other.
async fn check(log: &ServerLog, tool: &str) {
    log.expect("notifications/cancelled", 1).await;
    let messages = log.messages();
    let call = messages
        .iter()
        .find(|message| message["params"]["name"] == tool);
    let cancelled: Vec<&Value> = messages
        .iter()
        .filter(|message| message["method"] == "notifications/cancelled")
        .map(|message| &message["params"]["requestId"])
        .collect();
    assert_eq!(
        cancelled,
        [&call.expect("it was called")["id"]],
        "{messages:#?}"
    );
}

fn scripted() -> Script {
    with_tool(Script::new(), "mute", []).tool_named("good")
}

/// B3, B4
#[tokio::test]
async fn a_call_ends_at_the_callers_deadline_and_the_server_is_told() {
    let (host, process) = Host::play(&scripted()).await;
    let begun = Instant::now();
    let options = CallOptions::new().timeout(Duration::from_millis(300));
    let error = host.call_with("mute", options).await.unwrap_err();
    let elapsed = error.request().and_then(|request| request.elapsed());
    assert_eq!(error.code(), ErrorCode::RequestTimeout);
    assert_eq!(
        elapsed.map(|elapsed| elapsed.budget()),
        Some(Duration::from_millis(300))
    );
    assert!(begun.elapsed() >= Duration::from_millis(300));
    check(&process.log(), "mute").await;
    assert_eq!(host.call("good").await.unwrap().text(), "good");
    host.end().await;
}

/// B3: the caller's budget counts only when it is the smaller one.
#[tokio::test]
async fn a_call_ends_at_the_servers_budget() {
    let process = scripted().command();
    let server: ServerConfig = stdio(SERVER, &process).tool_timeout(Duration::from_millis(300));
    let host = Host::ready(server).await;
    let options = CallOptions::new().timeout(Duration::from_secs(3_600));
    let error = host.call_with("mute", options).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::RequestTimeout);
    check(&process.log(), "mute").await;
    host.end().await;
}

/// B3
#[tokio::test]
async fn a_call_without_any_time_sends_nothing() {
    let (host, process) = Host::play(&scripted()).await;
    let options = CallOptions::new().timeout(Duration::ZERO);
    let error = host.call_with("good", options).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::RequestTimeout);
    host.call("good").await.unwrap();
    assert_eq!(process.log().count("tools/call"), 1);
    host.end().await;
}

/// B4
#[tokio::test]
async fn dropping_a_call_tells_the_server() {
    let (host, process) = Host::play(&scripted()).await;
    let call = host.prepare("mute").execute(CallOptions::new());
    let log = process.log();
    tokio::select! {
        outcome = call => panic!("it cannot end: {outcome:?}"),
        () = log.expect("tools/call", 1) => {}
    }
    check(&process.log(), "mute").await;
    assert_eq!(host.call("good").await.unwrap().text(), "good");
    host.end().await;
}

/// B4: many at once, each for itself.
#[tokio::test]
async fn every_dropped_call_is_told() {
    let (host, process) = Host::play(&scripted()).await;
    let log = process.log();
    let calls: Vec<_> = (0..50)
        .map(|_| host.prepare("mute").execute(CallOptions::new()))
        .collect();
    tokio::select! {
        outcomes = futures_util::future::join_all(calls) => panic!("they cannot end: {outcomes:?}"),
        () = log.expect("tools/call", 50) => {}
    }
    process.log().expect("notifications/cancelled", 50).await;
    assert_eq!(host.call("good").await.unwrap().text(), "good");
    host.end().await;
}

/// B4
#[tokio::test]
async fn a_late_answer_is_ignored() {
    let ping = Action::Ask {
        method: "ping".into(),
        params: Value::Null,
    };
    let late = [
        Action::delay(Duration::from_millis(300)),
        Action::Standard,
        ping,
    ];
    let script = with_tool(scripted(), "late", late);
    let (host, process) = Host::play(&script).await;
    let options = CallOptions::new().timeout(Duration::from_millis(50));
    let error = host.call_with("late", options).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::RequestTimeout);
    // The answer to the ping shows that what the server wrote before it was read.
    let pong = json!({"jsonrpc": "2.0", "id": "server-1", "result": {}});
    logged(&process.log(), |log| log.messages().contains(&pong)).await;
    assert_eq!(host.call("good").await.unwrap().text(), "good");
    host.end().await;
}
