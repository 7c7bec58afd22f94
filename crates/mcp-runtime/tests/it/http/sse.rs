//! Answers that are streams of events, in whatever form and pieces they come (R7, R9, B4).

mod resumption;

use mcp_runtime::ErrorCode;
use mcp_testkit::{EventStream, Exchange, HttpHandle, HttpResponse};
use serde_json::{Value, json};

use super::{Expected, OK, called, check, check_alive, end, for_request, ready};
use crate::host::{Host, at_once};

const UNEXPECTED: ErrorCode = ErrorCode::UnexpectedResponse;

/// Answers a call with each of these streams, which then ends; and what it comes to.
async fn check_streams(rows: Vec<(String, Expected, &str)>) {
    let (host, mut server) = ready(&["t"]).await;
    for (text, expected, reason) in rows {
        let answer = async |request: Exchange| {
            let text = for_request(&text, &request);
            let mut stream = request.stream(HttpResponse::new(200)).await;
            stream.send_raw(text).await;
            stream.finish().await;
        };
        check(called(&host, &mut server, answer).await, expected, reason);
        check_alive(&host, &mut server, reason).await;
    }
    end(&host, server).await;
}

fn event(message: &str) -> String {
    format!("data: {message}\n\n")
}

/// R7: the form of events is a standard, and this is what it allows.
#[tokio::test]
async fn an_answer_is_found_in_every_form_of_stream() {
    let ok = event(OK);
    let (begin, rest) = OK.split_once(',').expect("it has members");
    let notice = event(r#"{"jsonrpc":"2.0","method":"notifications/x"}"#);
    let many = notice.repeat(5_000);
    let row = |text: String, reason| (text, Ok(()), reason);
    check_streams(vec![
        row(ok.clone(), "as it should be"),
        row(format!("event: message\nid: 1\n{ok}"), "all fields"),
        row(ok.replace('\n', "\r\n"), "carriage returns and line feeds"),
        row(ok.replace('\n', "\r"), "carriage returns"),
        row(format!("\u{feff}{ok}"), "a byte order mark"),
        row(format!("data:{OK}\n\n"), "no blank behind the colon"),
        row(
            format!("data: {begin},\ndata: {rest}\n\n"),
            "over two lines",
        ),
        row(
            format!("data: {begin}\n: comment\nretry: 1\ndata: ,{rest}\n\n"),
            "comments inside",
        ),
        row(format!(": hello\n\n:\n\n{ok}"), "comments"),
        row(format!("retry: 5000\n\n{ok}"), "a pause that is not needed"),
        row(format!("id: 7\ndata:\n\n{ok}"), "an id by itself"),
        row(
            format!("event: ping\ndata: 2026-01-01\n\n{ok}"),
            "another type",
        ),
        row(
            format!("event: error\ndata: {{\"id\":$id,\"error\":{{}}}}\n\n{ok}"),
            "another type with an answer in it",
        ),
        row(format!("whatever: x\nDATA: y\n\n{ok}"), "unknown fields"),
        row(
            format!("data: noise\n\ndata: [1]\n\ndata: {{}}\n\n{ok}"),
            "events that are no messages",
        ),
        row(
            format!("{}{ok}", event(&OK.replace("$id", "99999"))),
            "an answer to another",
        ),
        row(
            format!("{}{ok}", event(r#"{"id":99999,"result":NaN}"#)),
            "a broken answer to another",
        ),
        row(
            format!("{}{ok}", event(r#"{"id":$id,"method":"x/y","params":NaN}"#)),
            "a broken request with the id of the call",
        ),
        row(
            format!("{ok}{}", event(&OK.replace("\"ok\"", "\"late\""))),
            "two answers",
        ),
        row(format!("{ok}{}", event("noise")), "noise behind the answer"),
        row(event(&OK.replace("$id", "\"$id\"")), "the id as a text"),
        row(event(&format!("[{OK}]")), "a batch"),
        row(format!("{many}{ok}"), "many small events"),
        row(format!("data: {OK}\n"), "no blank line at the end"),
        row(format!("data: {OK}"), "no line end at the end"),
    ])
    .await;
}

/// R9: each at once.
#[tokio::test]
async fn a_stream_without_an_answer_fails_its_call_at_once() {
    let ended = Err((ErrorCode::TransportClosed, "ended before the answer"));
    let rpc = Err((ErrorCode::ProtocolError, "lost my id"));
    let error = r#""error":{"code":-32603,"message":"lost my id"}"#;
    let of = |text: &str| text.to_owned();
    check_streams(vec![
        (of(""), ended, "nothing"),
        (of(": soon\n\n"), ended, "a comment"),
        (of("data:\n\n\n\n"), ended, "empty events"),
        (of("id\ndata:\n\n"), ended, "an id that says nothing"),
        (
            event(r#"{"jsonrpc":"2.0","method":"notifications/x"}"#),
            ended,
            "a notification",
        ),
        (
            event(&OK.replace("$id", "null")),
            ended,
            "a result for null",
        ),
        (
            event(&OK.replace("$id", "99999")),
            ended,
            "an answer to another",
        ),
        (
            format!("data: {}", &OK[..OK.len() - 20]),
            ended,
            "half an answer",
        ),
        (
            format!("event: result\ndata: {OK}\n\n"),
            ended,
            "an answer of another type",
        ),
        (
            event(r#"{"id":$id,"result":NaN}"#),
            Err((UNEXPECTED, "not valid JSON")),
            "a literal that is none",
        ),
        (
            event(r#"{"id":$id,"result":{"content":["#),
            Err((UNEXPECTED, "not valid JSON")),
            "cut JSON",
        ),
        (
            event(r#"{"id":$id}"#),
            Err((UNEXPECTED, "neither a result")),
            "an answer without one",
        ),
        (event(&format!("{{\"id\":$id,{error}}}")), rpc, "an error"),
        (
            event(&format!("{{\"id\":null,{error}}}")),
            rpc,
            "an error for null",
        ),
        (event(&format!("{{{error}}}")), rpc, "an error for nobody"),
    ])
    .await;
}

/// One call, and the stream that it is to be answered on.
async fn streaming<T>(
    host: &Host,
    server: &mut HttpHandle,
    serve: impl AsyncFnOnce(&mut HttpHandle, EventStream, Value) -> T,
) -> (Result<mcp_runtime::ToolOutput, mcp_runtime::CallError>, T) {
    let serving = async {
        let request = server.expect_post("tools/call").await;
        let id = request.id().clone();
        let stream = request.stream(HttpResponse::new(200)).await;
        serve(server, stream, id).await
    };
    tokio::join!(host.call("t"), serving)
}

fn ok(id: &Value) -> String {
    event(&OK.replace("$id", &id.to_string()))
}

/// R7
#[tokio::test]
async fn the_pieces_of_a_stream_do_not_matter() {
    let (host, mut server) = ready(&["t"]).await;
    for prefix in [
        "\u{feff}: é\r\n\r\nretry: 1\r\n",
        "",
        "event: ping\rdata: x\r\r",
    ] {
        let bytewise = async |_: &mut HttpHandle, mut stream: EventStream, id: Value| {
            for byte in format!("{prefix}{}", ok(&id)).bytes() {
                stream.send_raw([byte]).await;
            }
            // It does not end: the answer is what counts.
            at_once(stream.expect_disconnect()).await;
        };
        let (outcome, ()) = streaming(&host, &mut server, bytewise).await;
        check(outcome, Ok(()), prefix);
    }
    end(&host, server).await;
}

/// R7: the limit is 16 MiB, and it is for answers: what nobody waits for is skipped.
#[tokio::test]
async fn an_event_over_the_limit_costs_the_call_that_it_answers() {
    let (host, mut server) = ready(&["t"]).await;
    let long = "x".repeat((16 << 20) + 1);
    let rows = [
        (
            r#"data: {"id":$id,"result":""#,
            Err((UNEXPECTED, "longer than the limit")),
        ),
        (
            r#"data: {"result":""#,
            Err((UNEXPECTED, "longer than the limit")),
        ),
        (
            r#"data: {"method":"notifications/message","params":""#,
            Ok(()),
        ),
        (": ", Ok(())),
    ];
    for (head, expected) in rows {
        let huge = async |_: &mut HttpHandle, mut stream: EventStream, id: Value| {
            stream.send_raw(head.replace("$id", &id.to_string())).await;
            stream.send_raw(&long).await;
            stream.send_raw("\"}\n\n").await;
            if expected.is_ok() {
                stream.send_raw(ok(&id)).await;
            }
            stream.finish().await;
        };
        let (outcome, ()) = streaming(&host, &mut server, huge).await;
        check(outcome, expected, head);
        check_alive(&host, &mut server, head).await;
    }
    end(&host, server).await;
}

/// R9, B4: the server may still be at work, so it is told; and no other call waits for it.
#[tokio::test]
async fn a_stream_that_is_cut_fails_its_call_at_once() {
    let (host, mut server) = ready(&["t"]).await;
    for half in ["", ": soon\n\n", "data: {\"jsonrpc\":"] {
        let cut = async |server: &mut HttpHandle, mut stream: EventStream, id: Value| {
            stream.send_raw(half).await;
            drop(stream);
            let notice = server.expect_post("notifications/cancelled").await;
            assert_eq!(notice.params()["requestId"], id, "{half:?}");
            notice.accept().await;
        };
        let call = streaming(&host, &mut server, cut);
        let (outcome, ()) = at_once(call).await;
        let error = outcome.expect_err("it was cut");
        assert_eq!(error.code(), ErrorCode::TransportClosed, "{half:?}");
        check_alive(&host, &mut server, half).await;
    }
    end(&host, server).await;
}

/// R7: what comes on the stream of a call is handled while the call waits, and in its order.
#[tokio::test]
async fn a_server_may_say_and_ask_things_on_the_stream_of_a_call() {
    let (mut host, mut server) = ready(&["t"]).await;
    let busy = async |server: &mut HttpHandle, mut stream: EventStream, id: Value| {
        for number in 1..=20 {
            let params = json!({"progressToken": id, "progress": number});
            let notice =
                json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params});
            stream.event(&notice).await;
        }
        let ping = json!({"jsonrpc": "2.0", "id": id, "method": "ping"});
        stream.event(&ping).await;
        let answer = server.expect_post_of_response().await;
        assert_eq!(
            answer.message(),
            &json!({"jsonrpc": "2.0", "id": id, "result": {}})
        );
        // It need not be taken before the call goes on.
        let held = answer.hang();
        stream.send_raw(ok(&id)).await;
        stream.finish().await;
        held
    };
    let (outcome, held) = streaming(&host, &mut server, busy).await;
    check(outcome, Ok(()), "questions in between");
    let progress: Vec<_> = host
        .told()
        .into_iter()
        .filter_map(|event| match event {
            mcp_runtime::RuntimeEvent::Progress { progress, .. } => Some(progress),
            _ => None,
        })
        .collect();
    let expected: Vec<_> = (1..=20).map(f64::from).collect();
    assert_eq!(progress, expected);
    end(&host, server).await;
    drop(held);
}
