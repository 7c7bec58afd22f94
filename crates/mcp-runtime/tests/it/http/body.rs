//! Answers that are one body: JSON or not, whole or not (R7, R9, W1).

use std::time::Duration;

use mcp_runtime::{CallOptions, ErrorCode};
use mcp_testkit::{Exchange, HttpResponse};
use tokio::time::interval;

use super::{Expected, OK, called, check, check_alive, end, for_request, ready};
use crate::host::at_once;

const UNEXPECTED: ErrorCode = ErrorCode::UnexpectedResponse;
const CLOSED: ErrorCode = ErrorCode::TransportClosed;
const LIMIT: usize = 16 << 20;

/// Answers a call with each of these, and what it comes to.
async fn check_bodies(rows: Vec<(&str, String, Expected, &str)>) {
    let (host, mut server) = ready(&["t"]).await;
    for (content_type, body, expected, reason) in rows {
        let answer = async |request: Exchange| {
            let body = for_request(&body, &request);
            let response = match content_type {
                "" => HttpResponse::new(200).untyped_body(body),
                kind => HttpResponse::new(200).body(kind, body),
            };
            request.respond(response).await;
        };
        check(called(&host, &mut server, answer).await, expected, reason);
        check_alive(&host, &mut server, reason).await;
    }
    end(&host, server).await;
}

/// R7: as much is read as can be.
#[tokio::test]
async fn an_answer_is_json_whatever_stands_around_it() {
    let json = "application/json";
    let notice = r#"{"jsonrpc":"2.0","method":"notifications/x"}"#;
    let ok = || OK.to_owned();
    check_bodies(vec![
        (json, ok(), Ok(()), "as it should be"),
        ("", ok(), Ok(()), "no content type"),
        ("text/plain; charset=utf-8", ok(), Ok(()), "text"),
        ("application/json; charset=utf-8", ok(), Ok(()), "a charset"),
        (
            "Application/JSON;charset=UTF-8",
            ok(),
            Ok(()),
            "capital letters",
        ),
        ("application/vnd.acme+json", ok(), Ok(()), "a kind of JSON"),
        (json, format!("\u{feff}{OK}"), Ok(()), "a byte order mark"),
        (
            json,
            format!("\r\n {OK}\r\n\r\n"),
            Ok(()),
            "white space around it",
        ),
        (json, OK.replace(',', ",\n  "), Ok(()), "several lines"),
        (
            json,
            OK.replace("$id", "\"$id\""),
            Ok(()),
            "the id as a text",
        ),
        (
            json,
            OK.replace("$id", "$id.0"),
            Ok(()),
            "the id as a float",
        ),
        (
            json,
            OK.replace("\"jsonrpc\":\"2.0\",", ""),
            Ok(()),
            "no version",
        ),
        (json, format!("[{notice},{OK}]"), Ok(()), "a batch"),
        (json, format!("[{OK}]\n"), Ok(()), "a batch of one"),
    ])
    .await;
}

/// R9: each at once, and it costs nobody else anything.
#[tokio::test]
async fn a_body_that_is_no_answer_fails_its_call_at_once() {
    let json = "application/json";
    let (not_json, none) = (
        Err((UNEXPECTED, "not valid JSON")),
        Err((UNEXPECTED, "does not answer")),
    );
    let rpc = |says| Err((ErrorCode::ProtocolError, says));
    let error = r#""error":{"code":-32603,"message":"lost my id"}"#;
    let of = |text: &str| text.to_owned();
    check_bodies(vec![
        (json, of(""), not_json, "nothing"),
        ("", of(""), not_json, "nothing of no type"),
        (json, of("  \n"), not_json, "white space"),
        (json, of("null"), not_json, "null"),
        (json, of("\"done\""), not_json, "a text"),
        (json, OK[..OK.len() - 9].to_owned(), not_json, "cut short"),
        (
            json,
            OK.replace("\"ok\"", "NaN"),
            not_json,
            "a literal that is none",
        ),
        (json, format!("{OK}{OK}"), not_json, "two answers"),
        (
            json,
            of("<html>sign in</html>"),
            not_json,
            "a page that says it is JSON",
        ),
        (
            "text/html",
            of("<html>sign in</html>"),
            Err((UNEXPECTED, "sign in")),
            "a page",
        ),
        (
            "application/octet-stream",
            of("\0\x01"),
            Err((UNEXPECTED, "octet-stream")),
            "bytes",
        ),
        (json, of("[]"), none, "an empty batch"),
        (json, OK.replace("$id", "99999"), none, "another id"),
        (json, OK.replace("$id", "null"), none, "a result for null"),
        (
            json,
            OK.replace("\"id\":$id,", ""),
            none,
            "a result for nobody",
        ),
        (
            json,
            of(r#"{"jsonrpc":"2.0","method":"notifications/x"}"#),
            none,
            "a notification",
        ),
        (
            json,
            of(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#),
            none,
            "a request",
        ),
        (json, of("{}"), not_json, "an object that is no message"),
        (
            json,
            of(r#"{"id":$id}"#),
            Err((UNEXPECTED, "neither a result")),
            "an answer without one",
        ),
        (
            json,
            format!("{{\"id\":null,{error}}}"),
            rpc("lost my id"),
            "an error for null",
        ),
        (
            json,
            format!("{{{error}}}"),
            rpc("lost my id"),
            "an error for nobody",
        ),
        (
            json,
            format!("{{\"id\":\"x\",{error}}}"),
            rpc("lost my id"),
            "an error for another",
        ),
        (
            json,
            format!("[{{\"id\":null,{error}}}]"),
            rpc("lost my id"),
            "an error in a batch",
        ),
        (
            json,
            of(r#"{"error":"boom"}"#),
            Err((UNEXPECTED, "\"boom\"")),
            "an error that is none",
        ),
        (
            json,
            of(r#"{"id":$id,"error":{"code":"E"}}"#),
            Err((UNEXPECTED, "no integer code")),
            "a code that is none",
        ),
        (
            json,
            of(r#"{"id":$id,"result":7}"#),
            Err((UNEXPECTED, "not a JSON object")),
            "a result that is none",
        ),
    ])
    .await;
}

/// Writes these bytes in place of a response, and closes the connection.
async fn check_bytes(rows: &[(&str, Expected, &str)]) {
    let (host, mut server) = ready(&["t"]).await;
    for (bytes, expected, reason) in rows {
        let answer = async |request: Exchange| {
            let bytes = for_request(bytes, &request);
            request.hang().send_raw(bytes).await;
        };
        check(called(&host, &mut server, answer).await, *expected, reason);
        check_alive(&host, &mut server, reason).await;
    }
    end(&host, server).await;
}

/// R9, T1
#[tokio::test]
async fn a_response_that_breaks_off_fails_its_call_at_once() {
    let closed = Err((CLOSED, "gave no answer"));
    check_bytes(&[
        ("", closed, "nothing at all"),
        ("HTTP/1.1 200", closed, "half a status"),
        ("HTTP/1.1 200 OK\r\nContent-Ty", closed, "half a head"),
        ("hello\r\n\r\n", closed, "another protocol"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{\"id\":$id,", closed, "less than was promised"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n8\r\n{\"id\":1", closed, "half a chunk"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", closed, "a chunk of no size"),
        ("HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", closed, "a length that is none"),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n{\"id\":$id,\"result\":{}}",
            Err((UNEXPECTED, "not valid JSON")),
            "more than was promised",
        ),
        (
            "HTTP/1.1 200 OK\r\n\r\n{\"id\":$id,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"ok\"}]}}",
            Ok(()),
            "no length but the end of the connection",
        ),
    ])
    .await;
}

/// R7: it need not be waited for when it is said in advance.
#[tokio::test]
async fn a_body_over_the_limit_is_refused_at_once() {
    let (host, mut server) = ready(&["t"]).await;
    let too_long = Err((UNEXPECTED, "longer than the limit of 16777216 bytes"));
    let answer = async |request: Exchange| {
        let mut held = request.hang();
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            LIMIT + 1
        );
        held.send_raw(head).await;
        held.expect_disconnect().await;
    };
    check(
        called(&host, &mut server, answer).await,
        too_long,
        "announced",
    );
    let answer = async |request: Exchange| {
        let head = HttpResponse::new(200).header("Content-Type", "application/json");
        let mut stream = request.stream(head).await;
        for _ in 0..16 {
            stream.send_raw(vec![b' '; LIMIT / 16]).await;
        }
        stream.send_raw(" ").await;
        stream.expect_disconnect().await;
    };
    check(
        called(&host, &mut server, answer).await,
        too_long,
        "as it comes",
    );
    check_alive(&host, &mut server, "bodies that are too long").await;
    end(&host, server).await;
}

/// R9: bytes that come one by one extend no deadline.
#[tokio::test]
async fn a_body_that_trickles_ends_at_the_deadline() {
    let (host, mut server) = ready(&["t"]).await;
    let options = CallOptions::new().timeout(Duration::from_millis(300));
    let serving = async {
        let request = server.expect_post("tools/call").await;
        let head = HttpResponse::new(200).header("Content-Type", "application/json");
        request.stream(head).await
    };
    let call = host.call_with("t", options);
    tokio::pin!(call);
    let mut stream = tokio::select! {
        outcome = &mut call => panic!("it cannot end yet: {outcome:?}"),
        stream = serving => stream,
    };
    let mut ticks = interval(Duration::from_millis(10));
    let trickling = async {
        loop {
            ticks.tick().await;
            stream.send_raw(" ").await;
        }
    };
    let outcome = tokio::select! {
        biased;
        outcome = &mut call => outcome,
        () = trickling => unreachable!("it trickles for ever"),
    };
    check(
        outcome,
        Err((ErrorCode::RequestTimeout, "timed out after 0.3 s")),
        "a trickle",
    );
    at_once(stream.expect_disconnect()).await;
    server
        .expect_post("notifications/cancelled")
        .await
        .accept()
        .await;
    check_alive(&host, &mut server, "a trickle").await;
    end(&host, server).await;
}

/// R7: what was compressed although nobody asked for that is told as such, and not as broken JSON.
#[tokio::test]
async fn an_answer_in_another_encoding_fails_its_call_at_once() {
    let (host, mut server) = ready(&["t"]).await;
    for (encoding, expected) in [
        ("gzip", Err((UNEXPECTED, "encoding `gzip`"))),
        ("br", Err((UNEXPECTED, "encoding `br`"))),
        ("identity", Ok(())),
    ] {
        let answer = async |request: Exchange| {
            let body = for_request(OK, &request);
            let response = HttpResponse::new(200).header("Content-Encoding", encoding);
            request
                .respond(response.body("application/json", body))
                .await;
        };
        check(called(&host, &mut server, answer).await, expected, encoding);
    }
    check_alive(&host, &mut server, "an encoding").await;
    end(&host, server).await;
}
