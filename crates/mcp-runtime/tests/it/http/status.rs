//! Answers whose status is no success (T1, R9).

use std::time::Duration;

use mcp_runtime::{CallError, ErrorCode, HttpError};
use mcp_testkit::{Exchange, HttpResponse};
use tokio::time::Instant;

use super::{Expected, called, check, check_alive, end, for_request, ready, ready_without_session};
use crate::host::Host;

/// Answers a call with each of these statuses and bodies, and what it comes to. There is no session that could be lost.
async fn check_statuses(rows: &[(u16, &str, &str, Expected)]) {
    let (host, mut server) = ready_without_session(&["t"]).await;
    for (status, content_type, body, expected) in rows {
        let answer = async |request: Exchange| {
            let body = for_request(body, &request);
            let response = HttpResponse::new(*status);
            let response = match *content_type {
                "" => response.untyped_body(body),
                kind => response.body(kind, body),
            };
            request.respond(response).await;
        };
        let reason = format!("{status} {content_type} {body}");
        check(called(&host, &mut server, answer).await, *expected, &reason);
        check_alive(&host, &mut server, &reason).await;
    }
    host.end().await;
}

/// T1
#[tokio::test]
async fn a_status_is_told_with_what_is_said_about_it() {
    let unexpected = |says| Err((ErrorCode::UnexpectedResponse, says));
    let trouble = |says| Err((ErrorCode::TransportError, says));
    let auth = |says| Err((ErrorCode::AuthRequired, says));
    check_statuses(&[
        (
            400,
            "text/plain",
            "Bad Request: nonsense",
            unexpected("400: Bad Request: nonsense"),
        ),
        (
            401,
            "",
            "token expired yesterday",
            auth("401): token expired yesterday"),
        ),
        (401, "", "", auth("asks for authorization")),
        (403, "text/plain", "forbidden", auth("403): forbidden")),
        (
            404,
            "text/html",
            "<h1>Not Found</h1>",
            unexpected("404: <h1>Not Found</h1>"),
        ),
        (405, "", "", unexpected("405")),
        (
            406,
            "text/plain",
            "Not Acceptable",
            unexpected("406: Not Acceptable"),
        ),
        (408, "", "", unexpected("408")),
        (410, "", "", unexpected("410")),
        (413, "", "too large", unexpected("413: too large")),
        (415, "", "", unexpected("415")),
        (
            418,
            "text/plain",
            "tea\r\n\x1b[31mpot\0",
            unexpected("418: tea [31mpot"),
        ),
        (429, "", "slow down", trouble("429: slow down")),
        (499, "", "", unexpected("499")),
        (
            500,
            "text/html",
            "<html>oops</html>",
            trouble("500: <html>oops</html>"),
        ),
        (501, "", "", trouble("501")),
        (
            502,
            "text/html",
            "<center>nginx</center>",
            trouble("502: <center>nginx</center>"),
        ),
        (503, "", "", trouble("503")),
        (504, "", "", trouble("504")),
        (599, "", "", trouble("599")),
        (300, "", "choose", unexpected("300: choose")),
        (304, "", "", unexpected("304")),
    ])
    .await;
}

/// T1: a JSON-RPC error says more than the status it comes with, unless it is about who asks.
#[tokio::test]
async fn a_json_rpc_error_counts_whatever_its_status() {
    let json = "application/json";
    let error = r#"{"jsonrpc":"2.0","id":$id,"error":{"code":-32042,"message":"no such prompt","data":{"k":1}}}"#;
    let lost = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"lost my id"}}"#;
    let bare = r#"{"error":{"code":-32000,"message":"bare"}}"#;
    let rpc = |says| Err((ErrorCode::ProtocolError, says));
    check_statuses(&[
        (400, json, error, rpc("no such prompt")),
        (404, json, error, rpc("no such prompt")),
        (
            422,
            "application/json; charset=utf-8",
            error,
            rpc("no such prompt"),
        ),
        (429, json, error, rpc("no such prompt")),
        (500, json, error, rpc("no such prompt")),
        (500, json, lost, rpc("lost my id")),
        (503, "", bare, rpc("bare")),
        (500, "text/plain", error, rpc("no such prompt")),
        (401, json, error, Err((ErrorCode::AuthRequired, "401"))),
        (403, json, error, Err((ErrorCode::AuthRequired, "403"))),
        (
            500,
            json,
            r#"{"error":"boom"}"#,
            Err((ErrorCode::TransportError, "boom")),
        ),
        (
            500,
            json,
            r#"{"error":{"code":"E1"}}"#,
            Err((ErrorCode::TransportError, "E1")),
        ),
        (
            400,
            json,
            r#"{"message":"bad"}"#,
            Err((ErrorCode::UnexpectedResponse, "bad")),
        ),
        (
            500,
            json,
            r#"{"jsonrpc":"2.0","id":$id,"result":{}}"#,
            Err((ErrorCode::TransportError, "500")),
        ),
    ])
    .await;
}

/// How a call fails that is answered like this.
async fn failed(
    host: &Host,
    server: &mut mcp_testkit::HttpHandle,
    response: HttpResponse,
) -> CallError {
    let answer = async |request: Exchange| request.respond(response).await;
    called(host, server, answer)
        .await
        .expect_err("it is no success")
}

fn http(error: &CallError) -> &HttpError {
    let request = error.request().expect("it was sent");
    request.http().expect("it is about HTTP")
}

/// T1: what a host needs to let its user in, in full; what a person reads of it is short.
#[tokio::test]
async fn a_challenge_is_kept() {
    let (host, mut server) = ready(&["t"]).await;
    let bearer = r#"Bearer error="insufficient_scope", scope="files:write""#;
    let long = format!("Bearer realm=\"{}\"", "x".repeat(5_000));
    let rows = [
        (401, vec![bearer], Some(bearer.to_owned())),
        (403, vec![bearer], Some(bearer.to_owned())),
        (401, vec!["Basic", bearer], Some(format!("Basic, {bearer}"))),
        (401, vec![long.as_str()], Some(long.clone())),
        (401, vec![], None),
    ];
    for (status, challenges, kept) in rows {
        let response = challenges
            .iter()
            .fold(HttpResponse::new(status), |response, challenge| {
                response.header("WWW-Authenticate", challenge)
            });
        let error = failed(&host, &mut server, response).await;
        assert_eq!(error.code(), ErrorCode::AuthRequired);
        assert_eq!(http(&error).challenge(), kept.as_deref());
        let message = crate::host::text(&error);
        assert!(message.len() < 800, "{message}");
        assert!(
            challenges
                .iter()
                .all(|it| it.len() > 800 || message.contains(it)),
            "{message}"
        );
        check_alive(&host, &mut server, "a refusal").await;
    }
    end(&host, server).await;
}

/// T1
#[tokio::test]
async fn how_long_an_endpoint_wants_to_be_left_alone_is_kept() {
    let (host, mut server) = ready(&["t"]).await;
    let seconds = |seconds| Some(Duration::from_secs(seconds));
    let rows = [
        (429, "7", seconds(7)),
        (503, " 120 ", seconds(120)),
        (429, "Wed, 21 Oct 2026 07:28:00 GMT", None),
        (429, "soon", None),
        (429, "-1", None),
        (429, "99999999999999999999999", None),
    ];
    for (status, value, kept) in rows {
        let response = HttpResponse::new(status).header("Retry-After", value);
        let error = failed(&host, &mut server, response).await;
        assert_eq!(http(&error).retry_after(), kept, "{value}");
        let shown = crate::host::text(&error).contains("left alone");
        assert_eq!(shown, kept.is_some(), "{value}");
    }
    end(&host, server).await;
}

/// R9: the status has been said; the rest is waited for a little.
#[tokio::test]
async fn an_explanation_that_never_ends_holds_nobody_up() {
    let (host, mut server) = ready_without_session(&["t"]).await;
    let begun = Instant::now();
    let serving = async {
        let request = server.expect_post("tools/call").await;
        let head = HttpResponse::new(500).header("Content-Type", "text/plain");
        let mut stream = request.stream(head).await;
        stream.send_raw("out of").await;
        stream
    };
    let (outcome, _stream) = tokio::join!(host.call("t"), serving);
    check(
        outcome,
        Err((ErrorCode::TransportError, "500: out of")),
        "half a body",
    );
    assert!(
        begun.elapsed() < Duration::from_secs(10),
        "{:?}",
        begun.elapsed()
    );
    check_alive(&host, &mut server, "half a body").await;
    host.end().await;
}
