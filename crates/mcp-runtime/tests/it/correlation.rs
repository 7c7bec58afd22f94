//! Which answer belongs to which request (R7, R9).

use std::time::Duration;

use futures_util::future::join_all;
use mcp_runtime::{CallError, CallOptions, ErrorCode, ToolOutput};
use mcp_testkit::{Action, Script};
use serde_json::{Value, json};

use crate::host::{Host, at_once, logged, text, with_tool};

/// A call that nobody answers is given this much.
const IMPATIENT: Duration = Duration::from_millis(250);

/// What a server writes when it is called, with `$id` for the id of the call.
type Row = (&'static str, &'static str);

/// Calls every row of one server beside the others; the outcomes in their order.
async fn called(rows: &[Row], timeout: Duration) -> Vec<Result<ToolOutput, CallError>> {
    let name = |number: usize| format!("row-{number}");
    let mut script = Script::new().tool_named("good");
    for (number, (lines, _)) in rows.iter().enumerate() {
        script = with_tool(
            script,
            &name(number),
            [Action::stdout(format!("{lines}\n"))],
        );
    }
    let (host, _process) = Host::play(&script).await;
    let calls = (0..rows.len()).map(|number| {
        let options = CallOptions::new().timeout(timeout);
        host.prepare(&name(number)).execute(options)
    });
    let outcomes = at_once(join_all(calls)).await;
    assert_eq!(host.call("good").await.expect("it goes on").text(), "good");
    host.end().await;
    outcomes
}

/// R9: numbers, texts of them, and numbers of languages that have only floats.
#[tokio::test]
async fn an_answer_is_recognised_however_its_id_is_spelled() {
    let rows: &[Row] = &[
        (
            r#"{"jsonrpc":"2.0","id":$id,"result":{}}"#,
            "as it was sent",
        ),
        (r#"{"jsonrpc":"2.0","id":"$id","result":{}}"#, "as a text"),
        (r#"{"jsonrpc":"2.0","id":$id.0,"result":{}}"#, "as a float"),
        (
            r#"{"result":{},"jsonrpc":"2.0","id":$id}"#,
            "behind the result",
        ),
        (
            r#"{"id":$id,"result":{},"error":null}"#,
            "with an error that is none",
        ),
        (
            r#"{"id":$id,"result":{},"params":{},"x":1}"#,
            "with members that are none",
        ),
        (
            r#"{"id":$id,"method":null,"result":{}}"#,
            "with a method that is none",
        ),
    ];
    let outcomes = called(rows, Duration::from_secs(20)).await;
    for ((_, reason), outcome) in rows.iter().zip(outcomes) {
        assert_eq!(outcome.expect(reason).raw().get(), "{}", "{reason}");
    }
}

/// R9: it ends at its deadline, and nobody else has its answer.
#[tokio::test]
async fn an_answer_to_nobody_is_nobodys() {
    let rows: &[Row] = &[
        (r#"{"jsonrpc":"2.0","id":null,"result":{}}"#, "null"),
        (
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"lost"}}"#,
            "an error for null",
        ),
        (r#"{"jsonrpc":"2.0","result":{}}"#, "no id"),
        (r#"{"jsonrpc":"2.0","id":$id.5,"result":{}}"#, "a fraction"),
        (r#"{"jsonrpc":"2.0","id":-$id,"result":{}}"#, "a sign"),
        (
            r#"{"jsonrpc":"2.0","id":"x$id","result":{}}"#,
            "another text",
        ),
        (r#"{"jsonrpc":"2.0","id":[$id],"result":{}}"#, "a list"),
        (
            r#"{"jsonrpc":"2.0","id":{"id":$id},"result":{}}"#,
            "an object",
        ),
        (
            r#"{"jsonrpc":"2.0","id":true,"result":{}}"#,
            "a truth value",
        ),
        (
            r#"{"jsonrpc":"2.0","id":99999$id,"result":{}}"#,
            "somebody else's number",
        ),
        (
            r#"{"jsonrpc":"2.0","id":18446744073709551617,"result":{}}"#,
            "beyond 64 bits",
        ),
    ];
    for ((_, reason), outcome) in rows.iter().zip(called(rows, IMPATIENT).await) {
        let error = outcome.expect_err(reason);
        let code = error.code();
        assert_eq!(
            code,
            ErrorCode::RequestTimeout,
            "{reason}: {}",
            text(&error)
        );
    }
}

/// R9: the first answer counts, and a session survives all others.
#[tokio::test]
async fn answers_that_were_not_asked_for_are_ignored() {
    let first = r#"{"id":$id,"result":{"n":1}}"#;
    let rows = [
        format!("{{\"id\":987654,\"result\":{{}}}}\n{{\"id\":\"nobody\",\"error\":{{}}}}\n{first}"),
        format!("{first}\n{{\"id\":$id,\"result\":{{\"n\":2}}}}"),
        format!("{first}\n{{\"id\":$id,\"error\":{{\"code\":1,\"message\":\"m\"}}}}"),
        format!("{first}\n{{\"id\":$id,\"result\":"),
        format!("{{\"id\":1,\"result\":{{\"n\":2}}}}\n{first}"),
    ];
    let script = rows
        .iter()
        .enumerate()
        .fold(Script::new(), |script, (number, lines)| {
            with_tool(
                script,
                &format!("row-{number}"),
                [Action::stdout(format!("{lines}\n"))],
            )
        });
    let (host, _process) = Host::play(&script).await;
    for (number, lines) in rows.iter().enumerate() {
        let output = host.call(&format!("row-{number}")).await.expect(lines);
        assert_eq!(output.raw().get(), r#"{"n":1}"#, "{lines}");
    }
    host.end().await;
}

/// R9, B4: the answer to a call that was given up comes in the middle of the next one.
#[tokio::test]
async fn a_late_answer_answers_nobody_else() {
    let late = |text: &str| {
        let result = json!({"content": [{"type": "text", "text": text}]});
        json!({"jsonrpc": "2.0", "id": "$id", "result": result})
    };
    // Answers once it was told that nobody waits: a ping that is answered shows that the answer before it was read.
    let ping = |id: &str| Action::Send(json!({"jsonrpc": "2.0", "id": id, "method": "ping"}));
    let slow = [
        Action::delay(IMPATIENT * 2),
        Action::Send(late("LATE")),
        ping("read"),
    ];
    let script = with_tool(Script::new(), "slow", slow);
    let patient = [
        Action::delay(IMPATIENT * 2),
        Action::delay(IMPATIENT),
        Action::Standard,
    ];
    let script = with_tool(script, "patient", patient);
    let (host, process) = Host::play(&script).await;
    let options = CallOptions::new().timeout(IMPATIENT);
    let error = host.call_with("slow", options).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::RequestTimeout, "{}", text(&error));
    assert_eq!(host.call("patient").await.unwrap().text(), "patient");
    let log = process.log();
    log.expect("notifications/cancelled", 1).await;
    let is_read = |message: &Value| message["id"] == "read";
    logged(&log, |log| log.messages().iter().any(is_read)).await;
    host.end().await;
}

/// Ids of the two directions are two things: a server's own request may have the id of ours.
#[tokio::test]
async fn the_ids_of_a_servers_requests_are_its_own() {
    let answer = r#"{"jsonrpc":"2.0","id":$id,"result":{}}"#;
    let rows = [
        (
            r#"{"jsonrpc":"2.0","id":$id,"method":"ping"}"#,
            "the id of the call",
        ),
        (
            r#"{"jsonrpc":"2.0","id":$id,"method":"x/y","params":NaN}"#,
            "and unreadable",
        ),
        (
            r#"{"jsonrpc":"2.0","method":"x/y","params":{,"id":$id}"#,
            "and broken before it",
        ),
        (
            r#"{"jsonrpc":"2.0","method":"x/y","params":"#,
            "a notification cut short",
        ),
        (
            r#"{"jsonrpc":"2.0","id":"$id","method":"x/y","params":[1]}"#,
            "as a text",
        ),
    ];
    let script = rows
        .iter()
        .enumerate()
        .fold(Script::new(), |script, (number, (line, _))| {
            let lines = Action::stdout(format!("{line}\n{answer}\n"));
            with_tool(script, &format!("row-{number}"), [lines])
        });
    let (host, _process) = Host::play(&script).await;
    for (number, (line, reason)) in rows.iter().enumerate() {
        let outcome = host.call(&format!("row-{number}")).await;
        assert!(outcome.is_ok(), "{reason}: {line}: {outcome:?}");
    }
    host.end().await;
}
