//! What a host's trusted lookup says of each call (L1).

use std::future::pending;
use std::time::Duration;

use mcp_runtime::{Access, CallOptions, ErrorCode, Invocation, McpRuntimeBuilder};
use serde_json::json;
use tokio::time::{Instant, sleep};

use crate::host::{builder, raw, text};
use crate::pair::{DEVBOX, LOCAL, Pair};

/// L1, S6: the lookup has the last word over the caller, and neither writes what is ours.
#[tokio::test]
async fn a_lookup_adds_to_what_the_server_is_told() {
    let lookup = |call: Invocation| async move {
        let told = json!({"x/for": call.environment(), "x/user": "ada", "progressToken": "x", "codex/sandbox-state": 1});
        Access::grant_with(raw(&told.to_string()))
    };
    let pair = Pair::start(builder().access(lookup)).await;
    let meta = r#"{"x/user":"eve","x/kept":1e2,"traceparent":"00","io.modelcontextprotocol/x":1}"#;
    for environment in [LOCAL, DEVBOX] {
        let options = CallOptions::new().meta(raw(meta));
        pair.search(environment, options).await.expect("a result");
    }
    for (environment, arrived) in [LOCAL, DEVBOX].iter().zip(pair.arrived()) {
        let mut meta = arrived[0]["_meta"].clone();
        let token = meta
            .as_object_mut()
            .and_then(|meta| meta.remove("progressToken"));
        assert!(token.is_some_and(|token| token.is_u64()), "it is ours");
        assert_eq!(
            meta,
            json!({"x/for": environment, "x/user": "ada", "x/kept": 100.0})
        );
    }
    pair.host.end().await;
}

async fn check(builder: McpRuntimeBuilder, code: ErrorCode, kind: &str, why: &str) {
    let pair = Pair::start(builder).await;
    let options = CallOptions::new().timeout(Duration::from_secs(1));
    let error = pair.search(DEVBOX, options).await.expect_err(why);
    assert_eq!(error.code(), code, "{why}: {}", text(&error));
    assert!(
        format!("{:?}", error.kind()).contains(kind),
        "{why}: {:?}",
        error.kind()
    );
    assert!(pair.arrived().iter().all(Vec::is_empty), "{why}");
    pair.host.end().await;
}

/// L1
#[tokio::test]
async fn a_call_without_access_is_not_sent() {
    let refuses = builder().access(|_| async { Access::refuse("off duty") });
    check(
        refuses,
        ErrorCode::Blocked,
        r#"Access { message: "off duty" }"#,
        "refused",
    )
    .await;
    let array = builder().access(|_| async { Access::grant_with(raw("[1]")) });
    check(array, ErrorCode::InvalidRequest, "Meta", "no object").await;
    let panics = builder().access(|_| async { panic!("on purpose") });
    check(
        panics,
        ErrorCode::Blocked,
        "Panicked { handler: AccessLookup }",
        "it panics",
    )
    .await;
    let hangs = builder().access(|_| pending::<Access>());
    check(hangs, ErrorCode::RequestTimeout, "Timeout", "it hangs").await;
}

/// L1, B3: it is the same time, and the same error, as those of a server that does not answer.
#[tokio::test]
async fn the_time_of_a_lookup_is_the_calls() {
    let slow = |_| async {
        sleep(Duration::from_secs(1)).await;
        Access::grant()
    };
    let pair = Pair::start(builder().access(slow)).await;
    let budget = Duration::from_millis(300);
    let begun = Instant::now();
    let outcome = pair.search(LOCAL, CallOptions::new().timeout(budget)).await;
    let took = begun.elapsed();
    assert!(took >= budget && took < Duration::from_secs(1), "{took:?}");
    let error = outcome.expect_err("the lookup is not done");
    assert_eq!(error.code(), ErrorCode::RequestTimeout);
    let elapsed = error.request().and_then(|request| request.elapsed());
    assert_eq!(elapsed.map(|elapsed| elapsed.budget()), Some(budget));
    assert!(pair.arrived().iter().all(Vec::is_empty));
    pair.host.end().await;
}
