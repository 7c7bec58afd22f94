//! Refusals that look like the loss of a session, and sessions that come to nothing (R10, R11).

use mcp_runtime::{ErrorCode, SandboxState};
use mcp_testkit::{Exchange, Handshake, HttpResponse};
use serde_json::{Value, json};

use super::{SESSION, called, check, check_alive, ready, ready_with};
use crate::host::at_once;

fn vague() -> HttpResponse {
    HttpResponse::new(400).body("text/plain", "Bad Request")
}

/// R10: an endpoint that answers 400 to a request which it does not like is asked whether it is there. What it has refused it
/// may have acted on, so that it is not sent again.
#[tokio::test]
async fn a_request_that_is_refused_in_a_session_which_lives_is_sent_once() {
    let (host, mut server) = ready(&["t"]).await;
    let own_error = |request: &Exchange| {
        let error = json!({"code": -32_000, "message": "it was half done"});
        HttpResponse::new(400).json(&json!({"jsonrpc": "2.0", "id": request.id(), "error": error}))
    };
    let no_ping = |request: &Exchange| {
        let error = json!({"code": -32_601, "message": "Method not found"});
        HttpResponse::new(400).json(&json!({"jsonrpc": "2.0", "id": request.id(), "error": error}))
    };
    for knows_ping in [true, false] {
        for vague_one in [true, false] {
            let serving = async {
                let request = server.expect_post("tools/call").await;
                assert_eq!(request.header("mcp-session-id"), Some(SESSION));
                let refusal = match vague_one {
                    true => vague(),
                    false => own_error(&request),
                };
                request.respond(refusal).await;
                let ping = server.expect_post("ping").await;
                assert_eq!(ping.header("mcp-session-id"), Some(SESSION));
                if knows_ping {
                    ping.result(json!({})).await;
                } else {
                    let refusal = no_ping(&ping);
                    ping.respond(refusal).await;
                }
            };
            let (outcome, ()) = tokio::join!(host.call("t"), serving);
            let expected = match vague_one {
                true => (ErrorCode::UnexpectedResponse, "Bad Request"),
                false => (ErrorCode::ProtocolError, "it was half done"),
            };
            check(outcome, Err(expected), "a refusal");
        }
    }
    check_alive(&host, &mut server, "refusals").await;
    let asked = server.waiting().into_iter().filter(|asked| asked != "GET");
    assert_eq!(
        asked.collect::<Vec<_>>(),
        [""; 0],
        "nothing else was asked for"
    );
    super::end(&host, server).await;
}

/// R9, R10: an endpoint that does not say whether it is there holds nobody up.
#[tokio::test]
async fn an_endpoint_that_does_not_answer_a_ping_has_refused_the_request() {
    let (host, mut server) = ready(&["t"]).await;
    let serving = async {
        let request = server.expect_post("tools/call").await;
        request.respond(vague()).await;
        server.expect_post("ping").await.hang()
    };
    let (outcome, _held) = tokio::join!(host.call("t"), serving);
    check(
        outcome,
        Err((ErrorCode::UnexpectedResponse, "Bad Request")),
        "no answer",
    );
    check_alive(&host, &mut server, "a ping that was not answered").await;
    super::end(&host, server).await;
}

/// R5, R10, R11: a session of a version that we do not speak is none.
#[tokio::test]
async fn a_session_that_cannot_be_used_is_let_go() {
    let (host, mut server) = ready(&["t"]).await;
    let serving = async {
        server
            .expect_post("tools/call")
            .await
            .respond(HttpResponse::new(404))
            .await;
        let request = server.expect_post("initialize").await;
        let result = json!({"protocolVersion": "2099-01-01", "capabilities": {}, "serverInfo": {"name": "x", "version": "1"}});
        let answer = json!({"jsonrpc": "2.0", "id": request.id(), "result": result});
        let response = HttpResponse::new(200)
            .header("Mcp-Session-Id", "odd")
            .json(&answer);
        request.respond(response).await;
        let deleted = server.expect_delete().await;
        assert_eq!(deleted.header("mcp-session-id"), Some("odd"));
        deleted.accept().await;
    };
    let (outcome, ()) = tokio::join!(host.call("t"), serving);
    check(
        outcome,
        Err((ErrorCode::UnexpectedResponse, "2099-01-01")),
        "it says which version",
    );
    super::end(&host, server).await;
}

/// S1, R10: what counts is what the endpoint says of itself now.
#[tokio::test]
async fn a_renewed_session_says_anew_what_its_server_is() {
    let state: SandboxState = serde_json::from_str("7").expect("any JSON");
    let local = mcp_runtime::Environment::new("local".parse().expect("an id")).sandbox_state(state);
    let (host, mut server) = ready_with(|builder| builder.environment(local), &["t"]).await;
    let meta = async |request: Exchange| {
        let meta = request.params()["_meta"]["codex/sandbox-state"].clone();
        request.result(json!({"seen": meta})).await;
    };
    let seen = |outcome: Result<mcp_runtime::ToolOutput, mcp_runtime::CallError>| {
        let output = outcome.expect("a result");
        serde_json::from_str::<Value>(output.raw().get()).expect("JSON")["seen"].clone()
    };
    assert_eq!(seen(called(&host, &mut server, meta).await), Value::Null);
    let wanting = json!({"experimental": {"codex/sandbox-state": {}}});
    let serving = async {
        server
            .expect_post("tools/call")
            .await
            .respond(HttpResponse::new(404))
            .await;
        server
            .initialize(Handshake::new().capabilities(wanting), Some("next"))
            .await;
        // It was decided what it says before the session was lost.
        meta(server.expect_post("tools/call").await).await;
        server
            .expect_post("tools/list")
            .await
            .result(super::listing(&["t"]))
            .await;
    };
    tokio::join!(host.call("t"), serving).0.expect("a result");
    assert_eq!(seen(called(&host, &mut server, meta).await), json!(7));
    at_once(super::end(&host, server)).await;
}

/// T6: an endpoint that repeats what it was asked with in an error of the protocol tells nobody.
#[tokio::test]
async fn an_error_in_a_refusal_shows_no_secret() {
    let secret = "Bearer s3cr3t-t0ken-of-mine";
    let (url, mut server) = mcp_testkit::ScriptedHttp::bind().await;
    let transport = super::at(&url).header(
        http::header::AUTHORIZATION,
        http::HeaderValue::from_static("Bearer s3cr3t-t0ken-of-mine"),
    );
    let host = crate::host::Host::serve([super::remote(transport)]);
    super::serve(&host, &mut server, Some(SESSION), &["t"]).await;
    let answer = async |request: Exchange| {
        let error = json!({"code": -32_602, "message": format!("bad {secret}"), "data": {"header": secret}});
        let answer = json!({"jsonrpc": "2.0", "id": request.id(), "error": error});
        request.respond(HttpResponse::new(400).json(&answer)).await;
    };
    let error = called(&host, &mut server, answer)
        .await
        .expect_err("it is refused");
    assert_eq!(error.code(), ErrorCode::ProtocolError);
    let rpc = error
        .request()
        .and_then(|request| request.rpc())
        .expect("an error of the protocol");
    let shown = format!("{} {:?} {error:?}", crate::host::text(&error), rpc.data());
    assert!(shown.contains("bad [redacted]"), "{shown}");
    assert!(!shown.contains("s3cr3t"), "{shown}");
    super::end(&host, server).await;
}
