//! Progress of calls: in order, of the right call, and before the result (R3, B4).

use std::time::Duration;

use mcp_runtime::{CallId, CallOptions, RuntimeEvent, ServerConfig};
use mcp_testkit::{Action, Script};
use serde_json::{Value, json};

use crate::host::{Host, SERVER, at_once, logged, stdio, with_tool};

fn progress(token: &str, progress: f64, message: &str) -> Action {
    Action::Send(json!({
        "jsonrpc": "2.0",
        "method": "notifications/progress",
        "params": {"progressToken": token, "progress": progress, "total": 3, "message": message},
    }))
}

/// Tells progress 1, 2 and 3, answers, and goes on telling.
fn working(name: &str) -> Vec<Action> {
    let of = |number: f64| progress("$progressToken", number, name);
    let ping = Action::Ask {
        method: "ping".into(),
        params: Value::Null,
    };
    vec![of(1.0), of(2.0), of(3.0), Action::Standard, of(4.0), ping]
}

/// What was told of a call.
fn of_call(told: &[RuntimeEvent], of: CallId) -> Vec<(f64, Option<f64>, String)> {
    let told = told.iter().filter_map(|event| match event {
        RuntimeEvent::Progress {
            call,
            progress,
            total,
            message,
            ..
        } if *call == of => Some((*progress, *total, message.clone().unwrap_or_default())),
        _ => None,
    });
    told.collect()
}

fn is_progress(event: &RuntimeEvent) -> bool {
    matches!(event, RuntimeEvent::Progress { .. })
}

/// Each call is told its own progress by the time it has its result, and nothing afterwards.
async fn check(tools: &[&str]) {
    let script = tools.iter().fold(Script::new(), |script, name| {
        with_tool(script, name, working(name))
    });
    let (mut host, process) = Host::play(&script).await;
    let calls: Vec<_> = tools.iter().map(|name| host.prepare(name)).collect();
    let ids: Vec<_> = calls.iter().map(mcp_runtime::PreparedCall::id).collect();
    let calls = calls
        .into_iter()
        .map(|call| call.execute(CallOptions::new()));
    for outcome in at_once(futures_util::future::join_all(calls)).await {
        outcome.unwrap();
    }
    let told = host.told();
    for (name, id) in tools.iter().zip(ids) {
        let told = of_call(&told, id);
        let expected = [1.0, 2.0, 3.0].map(|number| (number, Some(3.0), (*name).to_owned()));
        assert_eq!(told, expected);
    }
    assert_eq!(
        told.iter().filter(|event| is_progress(event)).count(),
        3 * tools.len()
    );
    // The answers to the pings show that what the server wrote before them was read.
    let answered = |log: &mcp_testkit::ServerLog| {
        let messages = log.messages();
        messages
            .iter()
            .filter(|message| message["method"].is_null())
            .count()
            == tools.len()
    };
    logged(&process.log(), answered).await;
    let told = host.told();
    assert!(!told.iter().any(is_progress), "{told:?}");
    host.end().await;
}

/// R3
#[tokio::test]
async fn progress_comes_in_order_and_before_the_result() {
    check(&["only"]).await;
}

/// R3
#[tokio::test]
async fn progress_belongs_to_its_call() {
    check(&["first", "second", "third"]).await;
}

/// R3: tokens that were never given out, of any type.
#[tokio::test]
async fn progress_of_nobodys_call_is_not_told() {
    let stray = |token: Value| {
        let params = json!({"progressToken": token, "progress": 1});
        Action::Send(
            json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params}),
        )
    };
    let steps = [
        stray(json!(999)),
        stray(json!("x")),
        stray(Value::Null),
        Action::Standard,
    ];
    let (mut host, _process) = Host::play(&with_tool(Script::new(), "stray", steps)).await;
    host.call("stray").await.unwrap();
    let told = host.told();
    assert!(!told.iter().any(is_progress), "{told:?}");
    host.end().await;
}

/// What becomes of a call that takes 3 s and reports progress all along.
async fn kept_alive(configured: impl FnOnce(ServerConfig) -> ServerConfig) -> Result<(), Duration> {
    let step = vec![
        progress("$progressToken", 1.0, "step"),
        Action::DelayMs(500),
    ];
    let steps = [Action::Repeat(6, step), Action::Standard];
    let process = with_tool(Script::new(), "long", steps).command();
    let host = Host::ready(configured(stdio(SERVER, &process))).await;
    let outcome = host.call("long").await;
    host.end().await;
    outcome.map(drop).map_err(|error| {
        let elapsed = error.request().and_then(|request| request.elapsed());
        elapsed.expect("only time ends it").budget()
    })
}

/// B4
#[tokio::test]
async fn progress_extends_a_call_only_where_that_is_configured_and_up_to_a_total() {
    let (budget, total) = (Duration::from_secs(2), Duration::from_millis(2_500));
    let (absolute, extended, capped) = tokio::join!(
        kept_alive(|server| server.tool_timeout(budget)),
        kept_alive(|server| server.tool_timeout(budget).reset_on_progress(true)),
        kept_alive(|server| {
            let server = server.tool_timeout(budget).reset_on_progress(true);
            server.max_total_timeout(total)
        }),
    );
    assert_eq!(absolute, Err(budget), "nothing is extended by itself");
    assert_eq!(extended, Ok(()), "each step gives the budget back");
    assert_eq!(capped, Err(total), "within the total");
}

/// R3
#[tokio::test]
async fn what_a_server_logs_is_told_unchanged() {
    let line = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"warning\",\"data\":{\"n\":1e2}}}\n";
    let script = with_tool(
        Script::new(),
        "chatty",
        [Action::stdout(line), Action::Standard],
    );
    let (mut host, _process) = Host::play(&script).await;
    host.call("chatty").await.unwrap();
    let told = host.told();
    let logged = told.iter().find_map(|event| match event {
        RuntimeEvent::Log { level, data, .. } => Some((level.as_str(), data.as_ref()?.get())),
        _ => None,
    });
    assert_eq!(logged, Some(("warning", "{\"n\":1e2}")));
    host.end().await;
}
