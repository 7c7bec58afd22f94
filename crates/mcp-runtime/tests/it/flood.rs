//! Servers that say far more than anybody asked for (R3, R9).

use mcp_runtime::RuntimeEvent;
use mcp_testkit::{Action, Script};
use serde_json::{Value, json};

use crate::host::{Host, logged, with_tool};

/// How often everything is said: far more often than any queue is long.
const OFTEN: u64 = 3_000;

/// The answer of a call comes through a flood of these lines, and so does that of the call after it.
async fn check(lines: &str) -> Host {
    let flood = Action::Repeat(OFTEN / 10, vec![Action::stdout(lines.repeat(10))]);
    let script = with_tool(Script::new(), "wild", [flood, Action::Standard]);
    let (host, process) = Host::play(&script.tool_named("calm")).await;
    assert_eq!(host.call("wild").await.expect(lines).text(), "wild");
    assert_eq!(host.call("calm").await.expect(lines).text(), "calm");
    assert_eq!(process.log().count("tools/call"), 2);
    host
}

fn notice(method: &str, params: &Value) -> String {
    format!(
        "{}\n",
        json!({"jsonrpc": "2.0", "method": method, "params": params})
    )
}

/// R3: what nobody reads is dropped, and that is told.
#[tokio::test]
async fn a_flood_of_logs_costs_logs_only() {
    let mut host = check(&notice(
        "notifications/message",
        &json!({"level": "debug", "data": "x"}),
    ))
    .await;
    let told = host.told();
    let logs = told
        .iter()
        .filter(|event| matches!(event, RuntimeEvent::Log { .. }))
        .count();
    let dropped = told.iter().filter_map(|event| match event {
        RuntimeEvent::Dropped { count } => Some(*count),
        _ => None,
    });
    let dropped: u64 = dropped.sum();
    assert!(dropped > 0, "{logs} logs are kept for nobody");
    assert_eq!(u64::try_from(logs).expect("a count") + dropped, OFTEN);
    assert!(
        told.iter()
            .any(|event| matches!(event, RuntimeEvent::Ready { .. }))
    );
    host.end().await;
}

/// R9
#[tokio::test]
async fn a_flood_of_notifications_keeps_no_answer_from_its_call() {
    for (method, params) in [
        ("notifications/unknown", json!({"x": [1, 2, 3]})),
        (
            "notifications/progress",
            json!({"progressToken": "nobody", "progress": 1}),
        ),
        ("notifications/cancelled", json!({"requestId": "nobody"})),
        ("notifications/resources/updated", json!({"uri": "mem://a"})),
        ("notifications/initialized", json!([])),
    ] {
        check(&notice(method, &params)).await.end().await;
    }
}

/// R9
#[tokio::test]
async fn a_flood_of_answers_to_nobody_keeps_no_answer_from_its_call() {
    check("{\"id\":99999,\"result\":{}}\n{\"id\":null,\"error\":{}}\nnoise\n")
        .await
        .end()
        .await;
}

/// R9: each is answered, also when they all have the same id.
#[tokio::test]
async fn every_request_of_a_server_is_answered() {
    const REQUESTS: usize = 500;
    let ids = [
        "\"same\"",
        "-1",
        "1.5",
        "18446744073709551615",
        "\"\"",
        "\"\\u00e9\"",
    ];
    let requests =
        ids.map(|id| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}\n"));
    let flood = Action::Repeat(500, vec![Action::stdout(requests.concat())]);
    let script = with_tool(Script::new(), "wild", [flood, Action::Standard]);
    let (host, process) = Host::play(&script).await;
    assert_eq!(host.call("wild").await.unwrap().text(), "wild");
    let answers = |log: &mcp_testkit::ServerLog, id: &Value| {
        let messages = log.messages().into_iter();
        messages
            .filter(|message| message["method"].is_null() && &message["id"] == id)
            .count()
    };
    for id in ids {
        let id: Value = serde_json::from_str(id).expect("JSON");
        logged(&process.log(), |log| answers(log, &id) == REQUESTS).await;
    }
    host.end().await;
}
