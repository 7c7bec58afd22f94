//! Hooks before and after a call (H1).

use std::sync::{Arc, Mutex};

use mcp_runtime::{
    Blocked, CallEnd, CallOptions, ErrorCode, HandlerFuture, HookAnswer, IntendedCall, ToolHook,
};
use mcp_testkit::Action;

use super::Stage;
use crate::host::{Host, SERVER, at_once, builder, raw, stdio, with_tool};

/// What a hook answers, and what is blocked for it.
async fn check(answer: fn() -> HookAnswer, expected: Blocked, why: &str) {
    let stage = Stage::set(builder().hook(move |_call| async move { answer() })).await;
    assert_eq!(stage.blocked().await, expected, "{why}");
    stage.end().await;
}

/// H1
#[tokio::test]
async fn what_a_hook_does_not_let_pass_is_not_sent() {
    let moved = |named: &str| Blocked::Moved {
        named: named.to_owned(),
    };
    let message = "not today".to_owned();
    check(
        || HookAnswer::deny("not today"),
        Blocked::ByHook { message },
        "it says no",
    )
    .await;
    check(
        || HookAnswer::proceed().names_server("other"),
        moved("server `other`"),
        "another server",
    )
    .await;
    check(
        || {
            HookAnswer::proceed()
                .names_server(SERVER)
                .names_environment("devbox")
        },
        moved("environment `devbox`"),
        "the host's server is in no environment",
    )
    .await;
    check(
        || HookAnswer::proceed().arguments(raw("[1]")),
        Blocked::HookArguments,
        "no object",
    )
    .await;
    check(
        || panic!("on purpose"),
        Blocked::Panicked { handler: "hook" },
        "it panics",
    )
    .await;
}

/// H1, W1
#[tokio::test]
async fn hooks_run_in_their_order_on_what_the_one_before_left() {
    let seen: Arc<Mutex<Vec<String>>> = Arc::default();
    let hook = |arguments: &'static str, context: &'static str| {
        let seen = seen.clone();
        move |call: IntendedCall| {
            seen.lock()
                .expect("nobody panics")
                .push(call.arguments().get().to_owned());
            async move {
                HookAnswer::proceed()
                    .arguments(raw(arguments))
                    .context(context)
            }
        }
    };
    let first = hook(r#"{"n": 1e3, "n": 12345678901234567890}"#, "first");
    let second = hook(r#"{"z":1,"a":2}"#, "second");
    let stage = Stage::set(builder().hook(first).hook(second)).await;
    let options = CallOptions::new().arguments(raw(r#"{"n":1e2}"#));
    let output = stage.call(options).await.expect("a result");
    assert_eq!(output.context(), ["first", "second"]);
    let lines = stage.process.log().lines();
    let sent = lines
        .iter()
        .filter(|line| line.contains(r#""arguments":{"z":1,"a":2}"#));
    assert_eq!(sent.count(), 1, "{lines:?}");
    let seen = seen.lock().expect("nobody panics").clone();
    assert_eq!(
        seen,
        [r#"{"n":1e2}"#, r#"{"n": 1e3, "n": 12345678901234567890}"#]
    );
    stage.end().await;
}

/// H1
#[tokio::test]
async fn a_hook_may_name_the_calls_own_server() {
    let hook = |call: IntendedCall| async move {
        assert_eq!(call.environment_id(), None);
        HookAnswer::proceed().names_server(call.key().server().name().as_str())
    };
    let stage = Stage::set(builder().hook(hook)).await;
    assert_eq!(stage.sent().await["arguments"]["n"], 100.0);
    stage.end().await;
}

/// What a hook was told of the ends of calls.
#[derive(Clone, Default)]
struct Witness(Arc<Mutex<Vec<String>>>);

impl ToolHook for Witness {
    fn after<'a>(
        &'a self,
        call: IntendedCall,
        end: CallEnd<'a>,
    ) -> HandlerFuture<'a, Option<String>> {
        let tool = call.key().tool();
        let end = match end {
            CallEnd::Answered(output) => format!("{tool} {}", output.is_error()),
            CallEnd::Failed { code, message } => {
                assert!(!message.is_empty());
                format!("{tool} {}", code.as_str())
            }
            other => format!("{other:?}"),
        };
        self.0.lock().expect("nobody panics").push(end);
        Box::pin(async { Some("seen".to_owned()) })
    }
}

/// H1
#[tokio::test]
async fn hooks_see_what_came_of_a_call() {
    let script = mcp_testkit::Script::new().tool_named("well");
    let failing = Action::Result(serde_json::json!({"content": [], "isError": true}));
    let script = with_tool(script, "failing", [failing]);
    let script = with_tool(script, "mute", []);
    let process = with_tool(script, "gone", [Action::Exit(3)]).command();
    let witness = Witness::default();
    let host = Host::begin(
        builder()
            .hook(witness.clone())
            .server(stdio(SERVER, &process)),
    );
    let host = host.settled().await;
    let output = host.call("well").await.expect("a result");
    assert_eq!(output.context(), ["seen"]);
    host.call("failing").await.expect("a result");
    let short = CallOptions::new().timeout(std::time::Duration::from_millis(50));
    let late = host.call_with("mute", short).await.expect_err("too late");
    assert_eq!(late.code(), ErrorCode::RequestTimeout);
    host.call("gone").await.expect_err("it is gone");
    let told = || witness.0.lock().expect("nobody panics").clone();
    // Nobody waits for the hook of a call that was too late.
    at_once(async {
        while told().len() < 4 {
            tokio::task::yield_now().await;
        }
    })
    .await;
    let mut told = told();
    told.sort();
    assert_eq!(
        told,
        [
            "failing true",
            "gone transport_closed",
            "mute request_timeout",
            "well false"
        ]
    );
    host.end().await;
}
