//! What an endpoint sees before it is ready, and how it fails to become so.

use std::env;
use std::time::Duration;

use http::{HeaderName, HeaderValue};
use mcp_runtime::{ErrorCode, Phase, RuntimeEvent, ServerConfig, ServerState};
use mcp_testkit::{Exchange, Handshake, HttpResponse, ScriptedHttp};
use serde_json::{Value, json};

use super::{at, end, listing, ready, remote};
use crate::host::{Host, SERVER, at_once, text};

/// A variable of this test's own process, set by cargo: the environment of a running process is not changed.
const TOKEN: &str = "CARGO_PKG_NAME";

/// How the startup of this server failed, with what it said.
async fn failed(host: &Host) -> (ErrorCode, Phase, String) {
    at_once(host.runtime.settled()).await;
    match host.state(SERVER) {
        ServerState::Failed { error, .. } => (error.code(), error.phase(), text(&*error)),
        state => panic!("it is {state:?}"),
    }
}

/// An endpoint answers `initialize` like this, and the startup fails like that.
async fn check(response: HttpResponse, code: ErrorCode, says: &[&str]) {
    let (url, mut server) = ScriptedHttp::bind().await;
    let host = Host::serve([remote(at(&url))]);
    let answering = async {
        server
            .expect_post("initialize")
            .await
            .respond(response)
            .await;
    };
    let ((failed_as, phase, message), ()) = tokio::join!(failed(&host), answering);
    assert_eq!((failed_as, phase), (code, Phase::Handshake), "{message}");
    for part in says {
        assert!(message.contains(part), "{part:?} is not said: {message}");
    }
    host.end().await;
}

/// R4
#[tokio::test]
async fn headers_and_token_go_with_every_request() {
    let (url, mut server) = ScriptedHttp::bind().await;
    let transport = at(&url)
        .header(
            HeaderName::from_static("x-tenant"),
            HeaderValue::from_static("blue"),
        )
        .bearer_token_env_var(TOKEN);
    let host = Host::serve([remote(transport)]);
    let token = format!("Bearer {}", env::var(TOKEN).unwrap());
    let carries = |exchange: &Exchange| {
        let seen = (
            exchange.header("x-tenant"),
            exchange.header("authorization"),
        );
        assert_eq!(
            seen,
            (Some("blue"), Some(token.as_str())),
            "{:?}",
            exchange.message()
        );
    };
    let serving = async {
        let request = server.expect_post("initialize").await;
        carries(&request);
        let result = Handshake::new().result(request.params());
        request.result(result).await;
        let notice = server.expect_post("notifications/initialized").await;
        carries(&notice);
        notice.accept().await;
        let request = server.expect_post("tools/list").await;
        carries(&request);
        request.result(listing(&["t"])).await;
    };
    at_once(async { tokio::join!(host.runtime.settled(), serving) }).await;
    let calling = host.call("t");
    let serving = async {
        let request = server.expect_post("tools/call").await;
        carries(&request);
        request.result(json!({"content": []})).await;
    };
    tokio::join!(calling, serving).0.unwrap();
    host.end().await;
}

/// R4: session and version, as the protocol asks.
#[tokio::test]
async fn session_and_version_go_with_every_later_request() {
    let (host, mut server) = ready(&["t"]).await;
    let serving = async {
        let request = server.expect_post("tools/call").await;
        let seen = ["mcp-session-id", "mcp-protocol-version"].map(|name| request.header(name));
        assert_eq!(seen, [Some(super::SESSION), Some("2025-11-25")]);
        request.result(json!({})).await;
    };
    tokio::join!(host.call("t"), serving).0.unwrap();
    end(&host, server).await;
}

/// R4: asked for in the configuration, so never left out.
#[tokio::test]
async fn a_missing_token_is_told_and_nothing_is_sent() {
    let (url, mut server) = ScriptedHttp::bind().await;
    let variable = "NO_SUCH_VARIABLE_ANYWHERE";
    let host = Host::serve([remote(at(&url).bearer_token_env_var(variable))]);
    let (code, phase, message) = failed(&host).await;
    assert_eq!(
        (code, phase),
        (ErrorCode::StartupFailed, Phase::Connect),
        "{message}"
    );
    assert!(
        message.contains(&format!("`{variable}`")) && message.contains("set it"),
        "{message}"
    );
    server.expect_nothing(Duration::from_millis(50)).await;
    host.end().await;
}

/// T1
#[tokio::test]
async fn a_refusal_of_credentials_is_told_as_such() {
    let challenge = HttpResponse::new(401).header("WWW-Authenticate", "Bearer realm=\"x\"");
    check(challenge, ErrorCode::AuthRequired, &[]).await;
}

/// R1
#[tokio::test]
async fn an_endpoint_that_speaks_no_mcp_is_told() {
    let page = || HttpResponse::new(200).body("text/html", "<html>hello</html>");
    check(page(), ErrorCode::UnexpectedResponse, &["text/html"]).await;
    check(HttpResponse::new(500), ErrorCode::TransportError, &["500"]).await;
}

/// R1
#[tokio::test]
async fn an_endpoint_that_refuses_says_why() {
    let (url, mut server) = ScriptedHttp::bind().await;
    let host = Host::serve([remote(at(&url))]);
    let refusing = async {
        let request = server.expect_post("initialize").await;
        request
            .error(-32_001, "the licence has expired", Value::Null)
            .await;
    };
    let ((code, phase, message), ()) = tokio::join!(failed(&host), refusing);
    assert_eq!(
        (code, phase),
        (ErrorCode::ProtocolError, Phase::Handshake),
        "{message}"
    );
    assert!(message.contains("the licence has expired"), "{message}");
    host.end().await;
}

/// R1
#[tokio::test]
async fn an_endpoint_that_nobody_serves_is_told() {
    let (url, server) = ScriptedHttp::bind().await;
    server.close().await;
    let host = Host::serve([remote(at(&url))]);
    let (code, phase, message) = failed(&host).await;
    assert_eq!(
        (code, phase),
        (ErrorCode::TransportError, Phase::Handshake),
        "{message}"
    );
    assert!(message.contains(url.trim_end_matches("/mcp")), "{message}");
    host.end().await;
}

/// R4: neither body nor credentials go to somebody who was not configured.
#[tokio::test]
async fn a_redirect_to_another_origin_is_not_followed() {
    for status in [301, 302, 303, 307, 308] {
        let (url, mut server) = ScriptedHttp::bind().await;
        let (elsewhere, mut other) = ScriptedHttp::bind().await;
        let host = Host::serve([remote(at(&url).bearer_token_env_var(TOKEN))]);
        let redirecting = async {
            let request = server.expect_post("initialize").await;
            let response = HttpResponse::new(status).header("Location", &elsewhere);
            request.respond(response).await;
        };
        let ((_, phase, message), ()) = tokio::join!(failed(&host), redirecting);
        assert_eq!(phase, Phase::Handshake, "{status}: {message}");
        other.expect_nothing(Duration::from_millis(50)).await;
        host.end().await;
    }
}

/// R4
#[tokio::test]
async fn a_redirect_within_the_origin_is_followed() {
    let (url, mut server) = ScriptedHttp::bind().await;
    let host = Host::serve([remote(at(&url))]);
    let serving = async {
        let request = server.expect_post("initialize").await;
        let moved = HttpResponse::new(308).header("Location", "/moved");
        request.respond(moved).await;
        let request = server.expect_post("initialize").await;
        assert_eq!(request.path(), "/moved");
        let result = Handshake::new().result(request.params());
        request.result(result).await;
        server
            .expect_post("notifications/initialized")
            .await
            .accept()
            .await;
        server
            .expect_post("tools/list")
            .await
            .result(listing(&["t"]))
            .await;
    };
    at_once(async { tokio::join!(host.runtime.settled(), serving) }).await;
    assert_eq!(host.tools(), ["t"]);
    host.end().await;
}

/// R2
#[tokio::test]
async fn an_endpoint_that_hangs_fails_at_its_deadline() {
    let (url, mut server) = ScriptedHttp::bind().await;
    let budget = Duration::from_secs(2);
    let hanging: ServerConfig = remote(at(&url)).startup_timeout(budget);
    let host = Host::serve([hanging]);
    let held = async { server.expect_post("initialize").await.hang() };
    let ((code, phase, message), held) = tokio::join!(failed(&host), held);
    assert_eq!(
        (code, phase),
        (ErrorCode::RequestTimeout, Phase::Handshake),
        "{message}"
    );
    assert!(message.contains("timed out after 2 s"), "{message}");
    at_once(held.expect_disconnect()).await;
    host.end().await;
}

/// R3, R11
#[tokio::test]
async fn a_startup_that_is_given_up_is_told_as_cancelled() {
    let (url, mut server) = ScriptedHttp::bind().await;
    let mut host = Host::serve([remote(at(&url))]);
    let held = server.expect_post("initialize").await.hang();
    host.end().await;
    let told = host.told_to_the_end().await;
    assert!(
        matches!(
            told.as_slice(),
            [
                RuntimeEvent::Starting { .. },
                RuntimeEvent::Cancelled { .. }
            ]
        ),
        "{told:?}"
    );
    drop(held);
}

/// R6, R11
#[tokio::test]
async fn a_startup_that_is_given_up_leaves_no_connection() {
    let (url, mut server) = ScriptedHttp::bind().await;
    let host = Host::serve([remote(at(&url))]);
    let held = server.expect_post("initialize").await.hang();
    host.end().await;
    at_once(held.expect_disconnect()).await;
}
