//! Notifications, and what endpoints answer to them (R2, R9).

use std::time::Duration;

use mcp_runtime::ServerState;
use mcp_testkit::{Exchange, HttpHandle, HttpResponse, ScriptedHttp};
use serde_json::json;
use tokio::time::Instant;

use super::{at, check_alive, end, listing, ready, remote};
use crate::host::{Host, SERVER, at_once};

/// Starts, with an endpoint that does this about `notifications/initialized`; the host and the endpoint.
async fn started<T>(acknowledged: impl AsyncFnOnce(Exchange) -> T) -> (Host, HttpHandle, T) {
    let (url, mut server) = ScriptedHttp::bind().await;
    let host = Host::serve([remote(at(&url)).startup_timeout(Duration::from_secs(20))]);
    let serving = async {
        let request = server.expect_post("initialize").await;
        request
            .result(json!({"protocolVersion": "2025-11-25"}))
            .await;
        let kept = acknowledged(server.expect_post("notifications/initialized").await).await;
        server
            .expect_post("tools/list")
            .await
            .result(listing(&["t"]))
            .await;
        kept
    };
    let ((), kept) = at_once(async { tokio::join!(host.runtime.settled(), serving) }).await;
    let state = host.state(SERVER);
    assert!(matches!(state, ServerState::Ready { .. }), "{state:?}");
    (host, server, kept)
}

/// R2: nothing in it matters: an endpoint that did not take it says so when it is asked something.
#[tokio::test]
async fn whatever_is_answered_to_a_notification_is_fine() {
    let json = |body: &str| HttpResponse::new(200).body("application/json", body);
    let rows = [
        (HttpResponse::new(202), "as it should be"),
        (HttpResponse::new(200), "200 and nothing"),
        (HttpResponse::new(204), "204"),
        (
            HttpResponse::new(202).body("application/json", "{\"ok\":true}"),
            "202 and JSON",
        ),
        (json(""), "empty JSON"),
        (json("null"), "null"),
        (
            json("{\"jsonrpc\":\"2.0\",\"id\":null,\"result\":{}}"),
            "an answer",
        ),
        (
            json("{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":1,\"message\":\"m\"}}"),
            "an error for the first request",
        ),
        (
            HttpResponse::new(200).body("text/html", "<html>ok</html>"),
            "a page",
        ),
        (
            HttpResponse::new(200).body("text/event-stream", ": hello\n\n"),
            "a stream",
        ),
        (HttpResponse::new(400), "400"),
        (
            HttpResponse::new(401).header("WWW-Authenticate", "Bearer"),
            "401",
        ),
        (HttpResponse::new(404), "404"),
        (
            HttpResponse::new(405).body("text/plain", "no notifications"),
            "405",
        ),
        (
            HttpResponse::new(302).header("Location", "http://example.invalid/"),
            "302",
        ),
        (HttpResponse::new(500), "500"),
    ];
    for (response, reason) in rows {
        let acknowledged = async |notice: Exchange| notice.respond(response).await;
        let (host, mut server, ()) = started(acknowledged).await;
        check_alive(&host, &mut server, reason).await;
        host.end().await;
    }
    let (host, mut server, ()) = started(async |notice: Exchange| notice.close()).await;
    check_alive(&host, &mut server, "a closed connection").await;
    host.end().await;
}

/// R2: it is waited for a little, since some endpoints refuse what comes before it was taken.
#[tokio::test]
async fn a_notification_that_is_never_answered_holds_up_no_startup() {
    let begun = Instant::now();
    let (host, mut server, held) = started(async |notice: Exchange| notice.hang()).await;
    let waited = begun.elapsed();
    assert!(waited < Duration::from_secs(10), "{waited:?}");
    check_alive(&host, &mut server, "a notification that hangs").await;
    host.end().await;
    at_once(held.expect_disconnect()).await;
}

/// B4: neither the host nor its next calls wait for a cancellation to be taken.
#[tokio::test]
async fn a_cancellation_that_is_not_taken_costs_nothing() {
    let (host, mut server) = ready(&["t"]).await;
    let refusals: [fn(Exchange) -> Option<mcp_testkit::HeldConnection>; 2] = [
        |notice| Some(notice.hang()),
        |notice| {
            notice.close();
            None
        },
    ];
    let mut held = Vec::new();
    for refuse in refusals {
        let call = host.call("t");
        let serving = async { server.expect_post("tools/call").await.hang() };
        held.push(tokio::select! {
            outcome = call => panic!("it cannot end: {outcome:?}"),
            held = serving => held,
        });
        held.extend(refuse(server.expect_post("notifications/cancelled").await));
        check_alive(&host, &mut server, "a cancellation").await;
    }
    end(&host, server).await;
}
