//! Sessions that endpoints forget: begun again once, by one for all, and never half (R10).

use std::time::Duration;

use futures_util::future::join_all;
use mcp_runtime::{CallOptions, ErrorCode};
use mcp_testkit::{Exchange, Handshake, HttpHandle, HttpResponse};
use serde_json::json;

use super::{SESSION, called, check, check_alive, end, for_request, ready, ready_without_session};
use crate::host::at_once;

fn lost() -> HttpResponse {
    HttpResponse::new(404)
}

/// The next call, made in this session.
async fn expect_call_in(server: &mut HttpHandle, session: &str) -> Exchange {
    let request = server.expect_post("tools/call").await;
    assert_eq!(request.header("mcp-session-id"), Some(session));
    request
}

/// How many of these wait to be answered.
fn waiting(server: &mut HttpHandle, what: &str) -> usize {
    server.waiting().iter().filter(|name| *name == what).count()
}

/// R10: whichever way an endpoint says that it does not know the session, what it refused is sent once more in the next.
#[tokio::test]
async fn a_lost_session_is_begun_again() {
    let json = "application/json";
    let error = |id: &str, code: i64| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":"Session not found"}}}}"#
        )
    };
    let rows = [
        (404, "", String::new()),
        (404, "text/plain", "Session not found".to_owned()),
        (404, "text/html", "<h1>404</h1>".to_owned()),
        (404, json, error("$id", -32_001)),
        (404, json, error("null", -32_001)),
        (404, json, error("\"server-error\"", -32_600)),
        (404, json, r#"{"error":"session_expired"}"#.to_owned()),
        (400, "", String::new()),
        (
            400,
            "text/plain",
            "Bad Request: No valid session ID provided".to_owned(),
        ),
        (400, json, error("$id", -32_000)),
        (400, json, error("null", -32_000)),
        (400, json, error("null", -32_600)),
        (400, json, r#"{"detail":"unknown session"}"#.to_owned()),
    ];
    let (host, mut server) = ready(&["t"]).await;
    let mut session = SESSION.to_owned();
    for (number, (status, kind, template)) in rows.into_iter().enumerate() {
        let next = format!("next-{number}");
        let serving = async {
            let request = expect_call_in(&mut server, &session).await;
            let template = &template;
            let body = for_request(template, &request);
            let refusal = |body: &str| match kind {
                "" => HttpResponse::new(status).untyped_body(body.to_owned()),
                kind => HttpResponse::new(status).body(kind, body.to_owned()),
            };
            request.respond(refusal(&body)).await;
            if status == 400 {
                // That alone says too little.
                let ping = server.expect_post("ping").await;
                assert_eq!(ping.header("mcp-session-id"), Some(session.as_str()));
                let body = for_request(template, &ping);
                ping.respond(refusal(&body)).await;
            }
            server.initialize(Handshake::new(), Some(&next)).await;
            expect_call_in(&mut server, &next)
                .await
                .result(json!({}))
                .await;
            body
        };
        let (outcome, body) = tokio::join!(host.call("t"), serving);
        outcome.unwrap_or_else(|error| panic!("{status} {body}: {error:?}"));
        session = next;
    }
    end(&host, server).await;
}

/// R10: what is refused although it was understood is refused, and the session stays.
#[tokio::test]
async fn a_request_that_is_refused_keeps_its_session() {
    let (host, mut server) = ready(&["t"]).await;
    for code in [-32_700, -32_603, -32_602, -32_601] {
        let answer = async |request: Exchange| {
            let error = json!({"code": code, "message": "it was read"});
            let answer = json!({"jsonrpc": "2.0", "id": request.id(), "error": error});
            request.respond(HttpResponse::new(400).json(&answer)).await;
        };
        let outcome = called(&host, &mut server, answer).await;
        check(
            outcome,
            Err((ErrorCode::ProtocolError, "it was read")),
            &code.to_string(),
        );
        check_alive(&host, &mut server, "a refusal").await;
    }
    assert_eq!(waiting(&mut server, "initialize"), 0);
    end(&host, server).await;
}

/// R10: without a session there is none to be lost.
#[tokio::test]
async fn where_there_are_no_sessions_none_is_begun_again() {
    let (host, mut server) = ready_without_session(&["t"]).await;
    for status in [400, 404] {
        let answer = async |request: Exchange| request.respond(HttpResponse::new(status)).await;
        let outcome = called(&host, &mut server, answer).await;
        check(
            outcome,
            Err((ErrorCode::UnexpectedResponse, "HTTP status 4")),
            "no session",
        );
        check_alive(&host, &mut server, "a refusal").await;
    }
    assert_eq!(waiting(&mut server, "initialize"), 0);
    host.end().await;
}

/// R10: once for each call, and no more.
#[tokio::test]
async fn an_endpoint_that_forgets_every_session_is_asked_once_more() {
    let (host, mut server) = ready(&["t"]).await;
    for (session, next) in [(SESSION, "next-1"), ("next-1", "next-2")] {
        let forgetting = async {
            expect_call_in(&mut server, session)
                .await
                .respond(lost())
                .await;
            server.initialize(Handshake::new(), Some(next)).await;
            expect_call_in(&mut server, next)
                .await
                .respond(lost())
                .await;
        };
        let (outcome, ()) = tokio::join!(host.call("t"), forgetting);
        check(
            outcome,
            Err((ErrorCode::UnexpectedResponse, "404")),
            session,
        );
        assert_eq!(waiting(&mut server, "initialize"), 0);
        assert_eq!(waiting(&mut server, "tools/call"), 0);
    }
    check_alive(&host, &mut server, "sessions that were lost").await;
    end(&host, server).await;
}

/// R10: whoever notices waits for the same new session.
#[tokio::test]
async fn calls_that_all_notice_begin_one_session() {
    const CALLS: usize = 6;
    let (host, mut server) = ready(&["t"]).await;
    let calls = (0..CALLS).map(|_| host.prepare("t").execute(CallOptions::new()));
    let calls = at_once(join_all(calls));
    let serving = async {
        let mut noticing = Vec::new();
        for _ in 0..CALLS {
            noticing.push(expect_call_in(&mut server, SESSION).await);
        }
        join_all(noticing.into_iter().map(|request| request.respond(lost()))).await;
        server.initialize(Handshake::new(), Some("next")).await;
        for _ in 0..CALLS {
            expect_call_in(&mut server, "next")
                .await
                .result(json!({}))
                .await;
        }
    };
    let (outcomes, ()) = tokio::join!(calls, serving);
    assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
    assert_eq!(waiting(&mut server, "initialize"), 0);
    end(&host, server).await;
}

/// Loses the session in a call; what is left is the request for a new one.
async fn expect_renewal(server: &mut HttpHandle) -> Exchange {
    expect_call_in(server, SESSION).await.respond(lost()).await;
    server.expect_post("initialize").await
}

async fn welcome(server: &mut HttpHandle, request: Exchange, session: &str) -> Exchange {
    let result = Handshake::new().result(request.params());
    let answer = json!({"jsonrpc": "2.0", "id": request.id(), "result": result});
    let response = HttpResponse::new(200).header("Mcp-Session-Id", session);
    request.respond(response.json(&answer)).await;
    server.expect_post("notifications/initialized").await
}

/// R10: no call is made in a session that is lost, or half begun.
#[tokio::test]
async fn a_call_waits_for_a_session_that_is_being_begun() {
    let (host, mut server) = ready(&["t"]).await;
    let (first, second) = (host.prepare("t"), host.prepare("t"));
    let mut first = Box::pin(first.execute(CallOptions::new()));
    let renewal = tokio::select! {
        outcome = &mut first => panic!("it cannot end: {outcome:?}"),
        renewal = expect_renewal(&mut server) => renewal,
    };
    let mut second = Box::pin(second.execute(CallOptions::new()));
    let renewing = async {
        let notice = welcome(&mut server, renewal, "next").await;
        // The answer is known by now, its acknowledgement is not.
        assert_eq!(waiting(&mut server, "tools/call"), 0);
        notice.accept().await;
        for _ in 0..2 {
            expect_call_in(&mut server, "next")
                .await
                .result(json!({}))
                .await;
        }
    };
    let calls = at_once(async { tokio::join!(&mut second, &mut first, renewing) });
    let (second, first, ()) = calls.await;
    assert!(first.is_ok() && second.is_ok(), "{first:?} {second:?}");
    end(&host, server).await;
}

/// R10, B4: whoever gives up leaves a session that is whole, or none.
#[tokio::test]
async fn a_caller_that_gives_up_leaves_no_session_half_begun() {
    let (host, mut server) = ready(&["t"]).await;
    let renewal = {
        let call = host.call("t");
        tokio::select! {
            outcome = call => panic!("it cannot end: {outcome:?}"),
            renewal = expect_renewal(&mut server) => renewal,
        }
    };
    welcome(&mut server, renewal, "next").await.accept().await;
    let serving = async {
        expect_call_in(&mut server, "next")
            .await
            .result(json!({}))
            .await;
    };
    tokio::join!(host.call("t"), serving)
        .0
        .expect("a session that was begun");
    assert_eq!(waiting(&mut server, "initialize"), 0);
    end(&host, server).await;
}

/// R10, R9: the call fails as the new session did, and the next one may have more luck.
#[tokio::test]
async fn a_session_that_cannot_be_begun_again_fails_its_call() {
    let (host, mut server) = ready(&["t"]).await;
    let challenge = "Bearer realm=\"x\"";
    let rows = [
        (HttpResponse::new(503), ErrorCode::TransportError, "503"),
        (HttpResponse::new(404), ErrorCode::UnexpectedResponse, "404"),
        (
            HttpResponse::new(401).header("WWW-Authenticate", challenge),
            ErrorCode::AuthRequired,
            challenge,
        ),
        (
            HttpResponse::new(200).body("text/html", "<html>"),
            ErrorCode::UnexpectedResponse,
            "text/html",
        ),
        (
            HttpResponse::new(200).untyped_body(""),
            ErrorCode::UnexpectedResponse,
            "not valid JSON",
        ),
    ];
    for (response, code, says) in rows {
        let refusing = async { expect_renewal(&mut server).await.respond(response).await };
        let (outcome, ()) = tokio::join!(host.call("t"), refusing);
        if code == ErrorCode::AuthRequired {
            let error = outcome.as_ref().expect_err("it is refused");
            let http = error
                .request()
                .and_then(|request| request.http())
                .expect("of HTTP");
            assert_eq!(http.challenge(), Some(challenge));
        }
        check(outcome, Err((code, says)), says);
    }
    let renewing = async {
        let renewal = expect_renewal(&mut server).await;
        welcome(&mut server, renewal, "next").await.accept().await;
        expect_call_in(&mut server, "next")
            .await
            .result(json!({}))
            .await;
    };
    tokio::join!(host.call("t"), renewing)
        .0
        .expect("it has recovered");
    end(&host, server).await;
}

/// R9, B3: beginning again is part of the call.
#[tokio::test]
async fn a_session_that_is_never_begun_again_costs_the_call_its_time_and_no_more() {
    let (host, mut server) = ready(&["t"]).await;
    let options = CallOptions::new().timeout(Duration::from_millis(300));
    let call = host.call_with("t", options);
    let (outcome, renewal) = tokio::join!(call, expect_renewal(&mut server));
    check(
        outcome,
        Err((ErrorCode::RequestTimeout, "0.3 s")),
        "it hangs",
    );
    // The host may go meanwhile: nothing of it is left.
    let leaving = async { server.expect_delete().await.accept().await };
    tokio::join!(host.end(), leaving);
    at_once(renewal.hang().expect_disconnect()).await;
}

/// R10: another process may speak another version and offer other tools.
#[tokio::test]
async fn a_new_session_may_be_another_in_every_way() {
    let (host, mut server) = ready(&["t"]).await;
    let renewing = async {
        let renewal = expect_renewal(&mut server).await;
        let answer = json!({"jsonrpc": "2.0", "id": renewal.id(), "result": {"protocolVersion": "2025-03-26"}});
        // Without a session from now on.
        renewal.respond(HttpResponse::new(200).json(&answer)).await;
        server
            .expect_post("notifications/initialized")
            .await
            .accept()
            .await;
        let request = server.expect_post("tools/call").await;
        let seen = ["mcp-session-id", "mcp-protocol-version"].map(|name| request.header(name));
        assert_eq!(seen, [None, Some("2025-03-26")]);
        request.result(json!({})).await;
        server
            .expect_post("tools/list")
            .await
            .result(super::listing(&["other"]))
            .await;
    };
    tokio::join!(host.call("t"), renewing)
        .0
        .expect("it goes on");
    let listed = async {
        while host.tools() != ["other"] {
            tokio::task::yield_now().await;
        }
    };
    at_once(listed).await;
    host.end().await;
}
