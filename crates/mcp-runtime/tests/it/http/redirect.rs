//! Endpoints that send their clients elsewhere (R4).

use std::time::Duration;

use http::{HeaderName, HeaderValue};
use mcp_runtime::ErrorCode;
use mcp_testkit::{Exchange, HttpResponse, ScriptedHttp};
use serde_json::json;

use super::{at, called, check, check_alive, end, ready, ready_without_session, remote, serve};
use crate::host::Host;

const UNEXPECTED: ErrorCode = ErrorCode::UnexpectedResponse;

fn moved(status: u16, location: &str) -> HttpResponse {
    HttpResponse::new(status).header("Location", location)
}

/// R4: neither the call nor who makes it is told to anybody else, and it fails at once.
#[tokio::test]
async fn a_call_that_is_sent_elsewhere_goes_nowhere() {
    let (elsewhere, mut other) = ScriptedHttp::bind().await;
    let (host, mut server) = ready(&["t"]).await;
    let port = elsewhere.rsplit_once(':').expect("a port").1;
    for status in [301, 302, 303, 307, 308] {
        for location in [
            elsewhere.clone(),
            format!("//127.0.0.1:{port}"),
            format!("http://localhost:{port}"),
        ] {
            let answer = async |request: Exchange| request.respond(moved(status, &location)).await;
            let reason = format!("{status} {location}");
            let expected = Err((UNEXPECTED, "which is not followed"));
            check(called(&host, &mut server, answer).await, expected, &reason);
            check_alive(&host, &mut server, &reason).await;
        }
    }
    let answer = async |request: Exchange| {
        request
            .respond(moved(307, "https://127.0.0.1/?key=s3cret"))
            .await;
    };
    let error = called(&host, &mut server, answer)
        .await
        .expect_err("it is elsewhere");
    let message = crate::host::text(&error);
    assert!(
        message.contains("`https://127.0.0.1`") && !message.contains("s3cret"),
        "{message}"
    );
    other.expect_nothing(Duration::from_millis(50)).await;
    end(&host, server).await;
}

/// R4: a redirect that would lose the body, or leads nowhere, is told as such.
#[tokio::test]
async fn a_redirect_that_cannot_be_followed_fails_its_call_at_once() {
    let (host, mut server) = ready_without_session(&["t"]).await;
    let rows = [
        (moved(301, "/moved"), "redirects (HTTP status 301)"),
        (moved(302, "/moved"), "redirects (HTTP status 302)"),
        (moved(303, "/moved"), "redirects (HTTP status 303)"),
        (moved(307, "file:///etc/passwd"), "redirect"),
        (moved(307, "javascript:alert(1)"), "redirect"),
        (moved(307, "http://"), "redirect"),
        (HttpResponse::new(307), "HTTP status 307"),
        (HttpResponse::new(308), "HTTP status 308"),
    ];
    for (response, says) in rows {
        let reason = format!("{response:?}");
        let answer = async |request: Exchange| request.respond(response).await;
        check(
            called(&host, &mut server, answer).await,
            Err((UNEXPECTED, says)),
            &reason,
        );
        check_alive(&host, &mut server, &reason).await;
    }
    host.end().await;
}

/// R4, R9
#[tokio::test]
async fn redirects_in_a_circle_end() {
    let (host, mut server) = ready_without_session(&["t"]).await;
    let call = host.call("t");
    let circling = async {
        let mut times = 0;
        loop {
            server
                .expect_post("tools/call")
                .await
                .respond(moved(307, "/mcp"))
                .await;
            times += 1;
            assert!(times < 50, "it goes round for ever");
        }
    };
    let outcome = tokio::select! {
        outcome = call => outcome,
        () = circling => unreachable!("it ends by a failed assertion only"),
    };
    check(outcome, Err((UNEXPECTED, "too many redirects")), "a circle");
    check_alive(&host, &mut server, "a circle").await;
    host.end().await;
}

/// R4: within the origin everything goes along, on every verb.
#[tokio::test]
async fn within_the_origin_everything_goes_along() {
    let (url, mut server) = ScriptedHttp::bind().await;
    let name = HeaderName::from_static("authorization");
    let transport = at(&url).header(name, HeaderValue::from_static("Bearer t0ken"));
    let host = Host::serve([remote(transport)]);
    serve(&host, &mut server, Some("one"), &["t"]).await;
    let goes_along = |request: &Exchange, path: &str| {
        assert_eq!(request.path(), path);
        let seen = ["authorization", "mcp-session-id"].map(|name| request.header(name));
        assert_eq!(seen, [Some("Bearer t0ken"), Some("one")]);
    };
    let serving = async {
        for (status, location) in [(307, "/mcp/"), (308, "moved?x=1")] {
            server
                .expect_post("tools/call")
                .await
                .respond(moved(status, location))
                .await;
        }
        let request = server.expect_post("tools/call").await;
        goes_along(&request, "/mcp/moved?x=1");
        assert_eq!(request.params()["name"], "t");
        request.result(json!({})).await;
        server
            .expect_get()
            .await
            .respond(moved(307, "/events"))
            .await;
        let request = server.expect_get().await;
        goes_along(&request, "/events");
        request.respond(HttpResponse::new(405)).await;
    };
    tokio::join!(host.call("t"), serving)
        .0
        .expect("it is followed");
    let leaving = async {
        server
            .expect_delete()
            .await
            .respond(moved(308, "/sessions"))
            .await;
        let request = server.expect_delete().await;
        goes_along(&request, "/sessions");
        request.accept().await;
    };
    tokio::join!(host.end(), leaving);
}
