//! Calls that get no result: each ends at once, with its reason, and costs nobody else anything (R7, R9, R10).

use std::time::Duration;

use futures_util::future::join_all;
use mcp_runtime::{CallOptions, ErrorCode, McpRuntime, RuntimeEvent};
use mcp_testkit::{Action, Script};
use tokio::time::Instant;

use crate::host::{Host, at_once, raw, text, with_tool};

/// Each call fails at once, long before its budget, and the next call of the same connection works.
async fn check(rows: Vec<(Action, ErrorCode, &str)>) {
    let mut script = Script::new().tool_named("good");
    for (number, (answer, ..)) in rows.iter().enumerate() {
        script = with_tool(script, &format!("bad-{number}"), [answer.clone()]);
    }
    let (host, process) = Host::play(&script).await;
    for (number, (answer, code, says)) in rows.iter().enumerate() {
        let error = host.call(&format!("bad-{number}")).await.unwrap_err();
        let message = text(&error);
        assert_eq!(error.code(), *code, "{answer:?}: {message}");
        assert!(
            message.contains(says),
            "{answer:?} does not say {says:?}: {message}"
        );
        assert_eq!(
            host.call("good").await.unwrap().text(),
            "good",
            "after {answer:?}"
        );
    }
    assert_eq!(process.log().count("notifications/cancelled"), 0);
    host.end().await;
    process.log().expect_all_gone().await;
}

/// R7, R9
#[tokio::test]
async fn a_malformed_reply_fails_its_call_at_once() {
    let line = |text: &str| Action::stdout(format!("{text}\n"));
    let error = |error: &str| Action::ErrorRaw(error.to_owned());
    let unexpected = ErrorCode::UnexpectedResponse;
    check(vec![
        (
            line(r#"{"jsonrpc":"2.0","id":$id,"result":{"content":["#),
            unexpected,
            "not valid JSON",
        ),
        (
            line(r#"{"id":$id,"result":{"n":NaN}}"#),
            unexpected,
            "not valid JSON",
        ),
        (
            Action::stdout(b"{\"id\":$id,\"result\":{\"t\":\"\xff\"}}\n"),
            unexpected,
            "not valid JSON",
        ),
        (
            line(r#"{"jsonrpc":"2.0","id":$id}"#),
            unexpected,
            "neither a result nor an error",
        ),
        (error("\"no\""), unexpected, "no integer code"),
        (
            error(r#"{"code":"E1","message":"no"}"#),
            unexpected,
            "no integer code",
        ),
        (error("{}"), unexpected, "no integer code"),
        (
            Action::ResultRaw("7".into()),
            unexpected,
            "not a JSON object",
        ),
        (
            Action::ResultRaw("null".into()),
            unexpected,
            "not a JSON object",
        ),
    ])
    .await;
}

/// R7: the limit is 16 MiB.
#[tokio::test]
async fn a_line_over_the_limit_fails_its_call_at_once() {
    let large = Action::ResultOfSize(17 << 20);
    check(vec![(
        large,
        ErrorCode::UnexpectedResponse,
        "longer than the limit of 16777216 bytes",
    )])
    .await;
}

/// R7: noise of all kinds between messages, and answers to nobody.
#[tokio::test]
async fn noise_between_messages_disturbs_nothing() {
    let noise = "starting up\n\n[1,2]\n\"text\"\n{\"no\":\"message\"}\n{\"id\":null,\"result\":{}}\n\
                 {\"jsonrpc\":\"2.0\",\"id\":999,\"result\":{}}\n\u{1b}[31mred\u{1b}[0m\n";
    let steps = [
        Action::stdout(noise),
        Action::stdout("\u{feff}"),
        Action::Standard,
    ];
    let script = with_tool(Script::new(), "noisy", steps);
    let (host, process) = Host::play(&script).await;
    assert_eq!(host.call("noisy").await.unwrap().text(), "noisy");
    host.end().await;
    // Nothing was answered to noise: what the client sent is all its own.
    let messages = process.log().messages();
    assert!(
        messages.iter().all(|message| message["method"].is_string()),
        "{messages:#?}"
    );
    process.log().expect_all_gone().await;
}

/// R10: however the server goes.
#[tokio::test]
async fn the_death_of_a_server_fails_every_call_in_flight_at_once() {
    let half = Action::stdout("{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"content\":[");
    let mut ends = vec![
        (vec![Action::Exit(101)], "exited with status 101"),
        // In the middle of an answer: it is the end that is told, not what came of it.
        (vec![half.clone(), Action::Exit(7)], "exited with status 7"),
    ];
    if cfg!(unix) {
        ends.push((vec![Action::Kill], "signal 9"));
        ends.push((vec![half, Action::Kill], "signal 9"));
        ends.push((vec![Action::CloseOutput], "closed its standard output"));
    }
    for (end, says) in ends {
        let script = with_tool(Script::new(), "mute", []);
        let words = Action::Stderr("out of memory".into());
        let script = with_tool(script, "fatal", [vec![words], end].concat());
        let (mut host, process) = Host::play(&script).await;
        let late = host.prepare("mute");
        let waiting: Vec<_> = (0..3).map(|_| host.prepare("mute")).collect();
        let waiting = join_all(
            waiting
                .into_iter()
                .map(|call| call.execute(CallOptions::new())),
        );
        let fatal = async {
            process.log().expect("tools/call", 3).await;
            host.call("fatal").await
        };
        let (mut outcomes, fatal) = at_once(async { tokio::join!(waiting, fatal) }).await;
        outcomes.push(fatal);
        // A call prepared before runs on its connection or not at all (B2).
        outcomes.push(at_once(late.execute(CallOptions::new())).await);
        for outcome in outcomes {
            let error = outcome.unwrap_err();
            let message = text(&error);
            assert_eq!(error.code(), ErrorCode::TransportClosed, "{message}");
            assert!(message.contains(says), "{message}");
            let why = error
                .request()
                .and_then(|request| request.disconnect())
                .unwrap();
            assert_eq!(
                (why.stderr_tail(), why.is_local()),
                ("out of memory", false)
            );
        }
        host.await_event(
            |event| matches!(event, RuntimeEvent::Disconnected { message, .. } if message.contains(says)),
        )
        .await;
        host.end().await;
        let log = process.log();
        assert_eq!(
            (log.count_calls("mute"), log.count_calls("fatal")),
            (3, 1),
            "nothing is repeated"
        );
        log.expect_all_gone().await;
    }
}

/// R9, R11: the write of a large argument is stuck in the pipe.
#[tokio::test]
async fn a_child_that_stops_reading_holds_up_neither_the_call_nor_the_shutdown() {
    let script = with_tool(
        Script::new(),
        "deaf",
        [Action::StopReading, Action::Standard],
    );
    let script = script.tool_named("large");
    let (host, process) = Host::play(&script).await;
    host.call("deaf").await.unwrap();
    let argument = raw(&format!("{{\"text\":\"{}\"}}", "x".repeat(2_000_000)));
    let options = CallOptions::new().timeout(Duration::from_millis(400));
    let begun = Instant::now();
    let error = host
        .call_with("large", options.arguments(argument))
        .await
        .unwrap_err();
    assert_eq!(error.code(), ErrorCode::RequestTimeout);
    assert!(begun.elapsed() >= Duration::from_millis(400));
    let begun = Instant::now();
    host.end().await;
    let bound = McpRuntime::DEFAULT_SHUTDOWN_TIMEOUT + Duration::from_secs(1);
    assert!(begun.elapsed() < bound, "{:?}", begun.elapsed());
    assert_eq!(process.log().alive(), [0; 0]);
}
