//! What is said with every request, whatever its verb (R4).

use std::time::Duration;

use http::{HeaderName, HeaderValue};
use mcp_runtime::{ErrorCode, HttpTransport, Phase, ServerState};
use mcp_testkit::{Exchange, Handshake, HttpResponse, ScriptedHttp};
use serde_json::json;

use super::{at, end, remote, serve};
use crate::host::{Host, SERVER, at_once, text};

/// A request says who asks, in which session and version, and what it takes for an answer.
#[track_caller]
fn check(request: &Exchange, session: Option<&str>, version: Option<&str>, accept: &str) {
    let expected = [
        ("authorization", Some("Bearer t0ken")),
        ("x-tenant", Some("blue")),
        ("mcp-session-id", session),
        ("mcp-protocol-version", version),
        ("accept", Some(accept)),
    ];
    let what = request.message()["method"]
        .as_str()
        .unwrap_or("no method")
        .to_owned();
    for (name, value) in expected {
        assert_eq!(request.header(name), value, "{name} of {what}");
        let times = request
            .headers()
            .iter()
            .filter(|(header, _)| header.eq_ignore_ascii_case(name));
        assert!(times.count() <= 1, "{name} of {what} is said twice");
    }
}

fn authorized(transport: HttpTransport) -> HttpTransport {
    let header = |name: &'static str| HeaderName::from_static(name);
    let value = |value: &'static str| HeaderValue::from_static(value);
    transport
        .header(header("authorization"), value("Bearer t0ken"))
        .header(header("x-tenant"), value("blue"))
}

const POST: &str = "application/json, text/event-stream";
const GET: &str = "text/event-stream";

/// R4, R10: in the first session and in the next.
#[tokio::test]
async fn every_request_says_who_asks_and_in_which_session() {
    let (url, mut server) = ScriptedHttp::bind().await;
    let host = Host::serve([remote(authorized(at(&url)))]);
    let version = Some("2025-06-18");
    let greet = |session: &'static str| {
        let result = Handshake::new()
            .protocol_version("2025-06-18")
            .result(&json!({}));
        async move |request: Exchange| {
            check(&request, None, None, POST);
            let answer = json!({"jsonrpc": "2.0", "id": request.id(), "result": result});
            let response = HttpResponse::new(200).header("Mcp-Session-Id", session);
            request.respond(response.json(&answer)).await;
        }
    };
    let starting = async {
        greet("one")(server.expect_post("initialize").await).await;
        let notice = server.expect_post("notifications/initialized").await;
        check(&notice, Some("one"), version, POST);
        notice.accept().await;
        let request = server.expect_post("tools/list").await;
        check(&request, Some("one"), version, POST);
        request.result(json!({"tools": [{"name": "t"}]})).await;
        let request = server.expect_get().await;
        check(&request, Some("one"), version, GET);
        request.respond(HttpResponse::new(405)).await;
    };
    at_once(async { tokio::join!(host.runtime.settled(), starting) }).await;

    let calling = async {
        let request = server.expect_post("tools/call").await;
        check(&request, Some("one"), version, POST);
        assert_eq!(request.header("content-type"), Some("application/json"));
        request.respond(HttpResponse::new(404)).await;
        greet("two")(server.expect_post("initialize").await).await;
        let notice = server.expect_post("notifications/initialized").await;
        check(&notice, Some("two"), version, POST);
        notice.accept().await;
        let request = server.expect_post("tools/call").await;
        check(&request, Some("two"), version, POST);
        let ping = json!({"jsonrpc": "2.0", "id": "p", "method": "ping"});
        let answer = json!({"jsonrpc": "2.0", "id": request.id(), "result": {}});
        let mut stream = request.stream(HttpResponse::new(200)).await;
        stream.event(&ping).await;
        let pong = server.expect_post_of_response().await;
        check(&pong, Some("two"), version, POST);
        pong.accept().await;
        stream.event(&answer).await;
        stream.finish().await;
        let request = server.expect_get().await;
        check(&request, Some("two"), version, GET);
        request.respond(HttpResponse::new(405)).await;
    };
    tokio::join!(host.call("t"), calling)
        .0
        .expect("it is sent once more");

    let leaving = async {
        let request = server.expect_delete().await;
        check(&request, Some("two"), version, "*/*");
        request.accept().await;
    };
    tokio::join!(host.end(), leaving);
}

/// R10: a session is what the answer to `initialize` says, and nothing later.
#[tokio::test]
async fn a_session_id_in_any_other_answer_is_not_taken_over() {
    let (url, mut server) = ScriptedHttp::bind().await;
    let host = Host::serve([remote(at(&url))]);
    serve(
        &host,
        &mut server,
        Some("visible !#$%&'*+-.^_`|~ ascii"),
        &["t"],
    )
    .await;
    for _ in 0..2 {
        let serving = async {
            let request = server.expect_post("tools/call").await;
            assert_eq!(
                request.header("mcp-session-id"),
                Some("visible !#$%&'*+-.^_`|~ ascii")
            );
            let answer = json!({"jsonrpc": "2.0", "id": request.id(), "result": {}});
            let response = HttpResponse::new(200).header("Mcp-Session-Id", "another");
            request.respond(response.json(&answer)).await;
        };
        tokio::join!(host.call("t"), serving).0.expect("a result");
    }
    end(&host, server).await;
}

/// R4: what the protocol says itself cannot be configured, and nothing is sent.
#[tokio::test]
async fn a_reserved_header_is_told_at_startup() {
    for name in [
        "accept",
        "content-type",
        "content-length",
        "host",
        "last-event-id",
        "mcp-session-id",
        "mcp-protocol-version",
        "mcp-method",
        "mcp-name",
        "transfer-encoding",
    ] {
        let (url, mut server) = ScriptedHttp::bind().await;
        let header = HeaderName::from_static(name);
        let transport = at(&url).header(header, HeaderValue::from_static("x"));
        let host = Host::serve([remote(transport)]);
        at_once(host.runtime.settled()).await;
        let ServerState::Failed { error, .. } = host.state(SERVER) else {
            panic!("{name} is taken")
        };
        let message = text(&*error);
        assert_eq!(
            (error.code(), error.phase()),
            (ErrorCode::StartupFailed, Phase::Connect),
            "{message}"
        );
        assert!(
            message.contains(&format!("`{name}` cannot be configured")),
            "{message}"
        );
        server.expect_nothing(Duration::from_millis(10)).await;
        host.end().await;
    }
}
