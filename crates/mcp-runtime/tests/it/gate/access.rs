//! The access lookup (L1).

use std::time::Duration;

use mcp_runtime::{Access, Blocked, CallErrorKind, CallOptions, ErrorCode};
use tokio::time::Instant;

use super::Stage;
use crate::host::{builder, raw};

/// L1, S6
#[tokio::test]
async fn an_access_lookup_adds_to_the_metadata_and_to_nothing_that_is_ours() {
    let meta = r#"{"tenant":"blue","codex/sandbox-state":1,"traceparent":"x","n":1e2}"#;
    let lookup = move |_call| async move { Access::granted().meta(raw(meta)) };
    let stage = Stage::set(builder().access(lookup)).await;
    let options = CallOptions::new().meta(raw(r#"{"tenant":"red","kept":1}"#));
    stage.call(options).await.expect("a result");
    let lines = stage.process.log().lines();
    let sent = r#""_meta":{"kept":1,"tenant":"blue","n":1e2,"progressToken":"#;
    assert!(lines.iter().any(|line| line.contains(sent)), "{lines:?}");
    stage.end().await;
}

/// L1
#[tokio::test]
async fn what_is_refused_access_is_not_sent() {
    let stage = Stage::set(builder().access(|_call| async { Access::refused("no seat") })).await;
    let message = "no seat".to_owned();
    assert_eq!(stage.blocked().await, Blocked::ByAccess { message });
    stage.end().await;

    let stage = Stage::set(builder().access(|_call| async { panic!("on purpose") })).await;
    let handler = "access lookup";
    assert_eq!(stage.blocked().await, Blocked::Panicked { handler });
    stage.end().await;

    let lookup = |_call| async { Access::granted().meta(raw("[]")) };
    let stage = Stage::set(builder().access(lookup)).await;
    let error = stage.call(CallOptions::new()).await.expect_err("no object");
    assert!(matches!(error.kind(), CallErrorKind::Meta(_)), "{error:?}");
    assert_eq!(stage.calls(), 0);
    stage.end().await;
}

/// B3, L1, H1: one budget, whoever spends it, and one error.
#[tokio::test]
async fn a_call_whose_time_runs_out_before_it_is_sent_is_a_request_that_timed_out() {
    async fn forever() {
        std::future::pending::<()>().await;
    }
    let by_access = builder().access(|_call| async {
        forever().await;
        Access::granted()
    });
    let by_hook = builder().hook(|_call| async {
        forever().await;
        mcp_runtime::HookAnswer::proceed()
    });
    for (builder, why) in [(by_access, "the lookup"), (by_hook, "the hook")] {
        let stage = Stage::set(builder).await;
        let budget = Duration::from_millis(300);
        let begun = Instant::now();
        let call = stage.call(CallOptions::new().timeout(budget)).await;
        let error = call.expect_err(why);
        assert!(begun.elapsed() >= budget, "{why}");
        assert_eq!(error.code(), ErrorCode::RequestTimeout, "{why}");
        let elapsed = error.request().and_then(|request| request.elapsed());
        assert_eq!(
            elapsed.map(|elapsed| elapsed.budget()),
            Some(budget),
            "{why}"
        );
        assert_eq!(stage.calls(), 0, "{why}");
        stage.end().await;
    }
}
