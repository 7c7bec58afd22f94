//! The end of a session, however an endpoint takes it (R11).

use std::time::Duration;

use mcp_testkit::{Exchange, HttpResponse};
use tokio::time::Instant;

use super::{SESSION, ready, ready_without_session};
use crate::host::at_once;

/// How long an end may take that nobody holds up.
const SOON: Duration = Duration::from_secs(2);

/// R11: the status of the answer is no concern of anybody.
#[tokio::test]
async fn a_session_ends_whatever_its_endpoint_says() {
    for status in [200, 202, 204, 301, 400, 401, 404, 405, 500, 503] {
        let (host, mut server) = ready(&["t"]).await;
        let begun = Instant::now();
        let ending = async {
            let request = server.expect_delete().await;
            let seen = ["mcp-session-id", "mcp-protocol-version"].map(|name| request.header(name));
            assert_eq!(seen, [Some(SESSION), Some("2025-11-25")]);
            request.respond(HttpResponse::new(status)).await;
        };
        let (report, ()) = tokio::join!(host.end(), ending);
        assert_eq!(report.killed(), &[] as &[u32], "{status}");
        assert!(begun.elapsed() < SOON, "{status}: {:?}", begun.elapsed());
    }
}

/// R11
#[tokio::test]
async fn an_endpoint_that_closes_instead_holds_nobody_up() {
    let (host, mut server) = ready(&["t"]).await;
    let begun = Instant::now();
    let ending = async { server.expect_delete().await.close() };
    tokio::join!(host.end(), ending);
    assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());

    let (host, server) = ready(&["t"]).await;
    server.close().await;
    let begun = Instant::now();
    host.end().await;
    assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
}

/// R11: what never began need not end.
#[tokio::test]
async fn without_a_session_there_is_nothing_to_end() {
    let (host, mut server) = ready_without_session(&["t"]).await;
    server
        .expect_get()
        .await
        .respond(HttpResponse::new(405))
        .await;
    host.end().await;
    server.expect_nothing(Duration::from_millis(50)).await;
}

/// R11: it ends once, however often it is asked to.
#[tokio::test]
async fn a_session_ends_once() {
    let (host, mut server) = ready(&["t"]).await;
    server
        .expect_get()
        .await
        .respond(HttpResponse::new(405))
        .await;
    let ending = async {
        let request: Exchange = server.expect_delete().await;
        request.respond(HttpResponse::new(200)).await;
    };
    at_once(async { tokio::join!(host.end(), host.end(), ending) }).await;
    drop(host);
    server.expect_nothing(Duration::from_millis(50)).await;
}
