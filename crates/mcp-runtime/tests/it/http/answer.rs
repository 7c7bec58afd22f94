//! Calls over HTTP and what becomes of them.

use std::time::Duration;

use mcp_runtime::{CallOptions, ErrorCode};
use mcp_testkit::{EventStream, Exchange, HttpHandle, HttpResponse};
use serde_json::{Value, json};
use tokio::time::interval;

use super::{called, end, ready};
use crate::host::{at_once, text};

fn message(id: &Value, text: &str) -> Value {
    let result = json!({"content": [{"type": "text", "text": text}]});
    json!({"jsonrpc": "2.0", "id": id, "result": result})
}

/// R4
#[tokio::test]
async fn answers_come_as_json_and_as_events() {
    let (host, mut server) = ready(&["t"]).await;
    let answer = async |request: Exchange| {
        assert_eq!(request.params()["name"], "t");
        request
            .result(json!({"content": [{"type": "text", "text": "json"}]}))
            .await;
    };
    let output = called(&host, &mut server, answer).await.unwrap();
    assert_eq!(output.text(), "json");
    let answer = async |request: Exchange| {
        let answer = message(request.id(), "event");
        let notice = json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": 1}});
        let mut stream: EventStream = request.stream(HttpResponse::new(200)).await;
        stream.keep_alive().await;
        stream.event(&notice).await;
        stream.event(&answer).await;
        stream.finish().await;
    };
    let output = called(&host, &mut server, answer).await.unwrap();
    assert_eq!(output.text(), "event");
    end(&host, server).await;
}

/// T1, R9: each ends at once, and the next call works.
#[tokio::test]
async fn a_call_that_fails_is_told_and_costs_no_other() {
    let rows = [
        (
            HttpResponse::new(401).header("WWW-Authenticate", "Bearer"),
            ErrorCode::AuthRequired,
            "credentials",
        ),
        (
            HttpResponse::new(503),
            ErrorCode::TransportError,
            "a gateway's trouble",
        ),
        (
            HttpResponse::new(200).body("application/json", "{\"jsonrpc\":\"2.0\",\"id\":"),
            ErrorCode::UnexpectedResponse,
            "cut JSON",
        ),
    ];
    let (host, mut server) = ready(&["t"]).await;
    for (response, code, why) in rows {
        let answer = async |request: Exchange| request.respond(response).await;
        let error = called(&host, &mut server, answer).await.unwrap_err();
        assert_eq!(error.code(), code, "{why}: {}", text(&error));
        let answer = async |request: Exchange| request.result(json!({})).await;
        called(&host, &mut server, answer).await.unwrap();
    }
    let answer = async |request: Exchange| {
        request
            .error(-32_050, "elsewhere", json!({"try": [1]}))
            .await;
    };
    let error = called(&host, &mut server, answer).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::ProtocolError);
    let rpc = error.request().and_then(|request| request.rpc()).unwrap();
    let data = rpc.data().map(serde_json::value::RawValue::get);
    assert_eq!(
        (rpc.code(), rpc.message(), data),
        (-32_050, "elsewhere", Some("{\"try\":[1]}"))
    );
    end(&host, server).await;
}

fn impatient() -> CallOptions {
    CallOptions::new().timeout(Duration::from_millis(300))
}

/// The server was told that this call is over.
async fn check_cancelled(server: &mut HttpHandle, id: &Value) {
    let notice = server.expect_post("notifications/cancelled").await;
    assert_eq!(&notice.params()["requestId"], id);
    notice.accept().await;
}

/// R9, B3, B4: bytes that mean nothing extend no deadline.
#[tokio::test]
async fn a_stream_of_keep_alives_ends_at_the_deadline() {
    let (host, mut server) = ready(&["t"]).await;
    let serving = async {
        let request = server.expect_post("tools/call").await;
        let id = request.id().clone();
        (request.stream(HttpResponse::new(200)).await, id)
    };
    let call = host.call_with("t", impatient());
    tokio::pin!(call);
    let (mut stream, id) = tokio::select! {
        outcome = &mut call => panic!("it cannot end yet: {outcome:?}"),
        begun = serving => begun,
    };
    let mut ticks = interval(Duration::from_millis(10));
    let keeping = async {
        loop {
            ticks.tick().await;
            stream.keep_alive().await;
        }
    };
    let outcome = tokio::select! {
        biased;
        outcome = &mut call => outcome,
        () = keeping => unreachable!("it keeps alive for ever"),
    };
    assert_eq!(outcome.unwrap_err().code(), ErrorCode::RequestTimeout);
    check_cancelled(&mut server, &id).await;
    end(&host, server).await;
}

/// R9
#[tokio::test]
async fn an_accepted_request_without_an_answer_ends_at_the_deadline() {
    let (host, mut server) = ready(&["t"]).await;
    let serving = async {
        let request = server.expect_post("tools/call").await;
        let id = request.id().clone();
        request.accept().await;
        id
    };
    let (outcome, id) = tokio::join!(host.call_with("t", impatient()), serving);
    let error = outcome.unwrap_err();
    assert_eq!(error.code(), ErrorCode::RequestTimeout, "{}", text(&error));
    check_cancelled(&mut server, &id).await;
    end(&host, server).await;
}

/// B4
#[tokio::test]
async fn dropping_a_call_tells_the_endpoint() {
    let (host, mut server) = ready(&["t"]).await;
    let (held, id) = {
        let call = host.call("t");
        let serving = async {
            let request = server.expect_post("tools/call").await;
            let id = request.id().clone();
            (request.hang(), id)
        };
        tokio::select! {
            outcome = call => panic!("it cannot end: {outcome:?}"),
            held = serving => held,
        }
    };
    check_cancelled(&mut server, &id).await;
    drop(held);
    end(&host, server).await;
}

/// R11: the session is ended, and a server that does not answer that holds nobody up.
#[tokio::test]
async fn shutting_down_ends_the_session() {
    let (host, mut server) = ready(&["t"]).await;
    let ending = async {
        let request = server.expect_delete().await;
        assert_eq!(request.header("mcp-session-id"), Some(super::SESSION));
        request.hang()
    };
    let (report, _held) = tokio::join!(host.end(), ending);
    assert_eq!(report.killed(), &[] as &[u32]);
}

/// R6: nobody waits, and nothing is left open.
#[tokio::test]
async fn dropping_the_host_closes_its_connections() {
    let (host, mut server) = ready(&["t"]).await;
    let call = host.prepare("t").execute(CallOptions::new());
    let serving = async {
        let held = server.expect_post("tools/call").await.hang();
        drop(host);
        held
    };
    let (outcome, held) = at_once(async { tokio::join!(call, serving) }).await;
    assert_eq!(outcome.unwrap_err().code(), ErrorCode::TransportClosed);
    server.expect_delete().await.accept().await;
    at_once(held.expect_disconnect()).await;
}
