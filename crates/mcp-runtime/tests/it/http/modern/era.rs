//! Which era an endpoint speaks (R5).

use std::time::Duration;

use mcp_runtime::{Era, ErrorCode, Phase, ServerState, SpokenEra};
use mcp_testkit::{Exchange, Handshake, HttpHandle, HttpResponse, ScriptedHttp};
use serde_json::{Value, json};

use super::super::{at, listing, remote};
use super::{discovered, server};
use crate::host::{Host, SERVER, at_once, text};

/// What becomes of an endpoint that is asked in whichever era it speaks, when it does this.
async fn spoken<F: Future<Output = ()>>(serve: impl FnOnce(HttpHandle) -> F) -> Option<SpokenEra> {
    let (url, endpoint) = ScriptedHttp::bind().await;
    // The time after which a slow endpoint is asked in both eras is half of it.
    let server = remote(at(&url))
        .era(Era::Auto)
        .startup_timeout(Duration::from_secs(20));
    let host = Host::serve([server]);
    at_once(async { tokio::join!(host.runtime.settled(), serve(endpoint)) }).await;
    let spoken = match host.state(SERVER) {
        ServerState::Ready { era, .. } => Some(era),
        _ => None,
    };
    host.end().await;
    spoken
}

async fn lists(endpoint: &mut HttpHandle) {
    endpoint
        .expect_post("tools/list")
        .await
        .result(listing(&["t"]))
        .await;
}

/// R5, R2: an endpoint that is slow is not one of the other era. It is asked in both, and each answer counts.
#[tokio::test]
async fn an_endpoint_that_takes_its_time_may_speak_either_era() {
    let modern = || discovered(&json!({"tools": {}}));
    let refuses = async |request: Exchange| {
        request
            .error(-32_601, "Method not found", Value::Null)
            .await;
    };

    let spoke = spoken(async |mut endpoint| {
        let discover = endpoint.expect_post("server/discover").await;
        refuses(endpoint.expect_post("initialize").await).await;
        discover.result(modern()).await;
        lists(&mut endpoint).await;
    });
    assert_eq!(
        spoke.await,
        Some(SpokenEra::Modern),
        "it says no to the other"
    );

    let spoke = spoken(async |mut endpoint| {
        let discover = endpoint.expect_post("server/discover").await;
        let initialize = endpoint.expect_post("initialize").await;
        discover.result(modern()).await;
        initialize.hang().expect_disconnect().await;
        lists(&mut endpoint).await;
    });
    assert_eq!(
        spoke.await,
        Some(SpokenEra::Modern),
        "it says nothing to the other"
    );

    let spoke = spoken(async |mut endpoint| {
        let discover = endpoint.expect_post("server/discover").await;
        endpoint.initialize(Handshake::new(), None).await;
        discover.hang().expect_disconnect().await;
        lists(&mut endpoint).await;
    });
    assert_eq!(
        spoke.await,
        Some(SpokenEra::Legacy),
        "it never answers what it does not know"
    );

    let spoke = spoken(async |mut endpoint| {
        let discover = endpoint.expect_post("server/discover").await;
        refuses(endpoint.expect_post("initialize").await).await;
        refuses(discover).await;
    });
    assert_eq!(spoke.await, None, "it says no to both");
}

/// R5: an endpoint may do anything with a question that it does not know.
#[tokio::test]
async fn whatever_is_answered_to_a_question_of_this_era_the_other_is_tried() {
    let ok = HttpResponse::new(200);
    let json = |body: &str| HttpResponse::new(200).body("application/json", body);
    let rows = [
        (
            HttpResponse::new(400).untyped_body("Bad Request: Server not initialized"),
            "400",
        ),
        (HttpResponse::new(404), "404"),
        (HttpResponse::new(405), "405"),
        (HttpResponse::new(406), "406"),
        (
            HttpResponse::new(500).body("text/html", "<h1>oops</h1>"),
            "500",
        ),
        (ok.clone(), "nothing"),
        (ok.clone().body("text/html", "<html>"), "a page"),
        (
            ok.body("text/event-stream", ": bye\n\n"),
            "a stream without an answer",
        ),
        (json("{}"), "no message"),
        (
            json(r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"m"}}"#),
            "an error for null",
        ),
        (
            json(r#"{"jsonrpc":"2.0","id":1,"error":{"code":"E"}}"#),
            "an error that is none",
        ),
        (
            json(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#),
            "a result that is none",
        ),
        (
            json(r#"{"jsonrpc":"2.0","id":1,"result":{"supportedVersions":null}}"#),
            "no versions",
        ),
        (
            json(r#"{"jsonrpc":"2.0","id":1,"result":{"supportedVersions":["2099-01-01"]}}"#),
            "other versions",
        ),
        (
            json(r#"{"jsonrpc":"2.0","id":1,"result":["2026-07-28"]}"#),
            "a list",
        ),
    ];
    for (response, reason) in rows {
        let (url, mut endpoint) = ScriptedHttp::bind().await;
        let host = Host::serve([remote(at(&url)).era(Era::Auto)]);
        let serving = async {
            endpoint
                .expect_post("server/discover")
                .await
                .respond(response)
                .await;
            endpoint.initialize(Handshake::new(), None).await;
            endpoint
                .expect_post("tools/list")
                .await
                .result(listing(&["t"]))
                .await;
        };
        at_once(async { tokio::join!(host.runtime.settled(), serving) }).await;
        let state = host.state(SERVER);
        let legacy = matches!(
            state,
            ServerState::Ready {
                era: SpokenEra::Legacy,
                ..
            }
        );
        assert!(legacy, "{reason}: {state:?}");
        host.end().await;
    }
}

/// R5: who is not let in is not let in in the other era either.
#[tokio::test]
async fn an_endpoint_that_asks_for_credentials_is_asked_once() {
    let (url, mut endpoint) = ScriptedHttp::bind().await;
    let host = Host::serve([remote(at(&url)).era(Era::Auto)]);
    let serving = async {
        endpoint
            .expect_post("server/discover")
            .await
            .respond(HttpResponse::new(401))
            .await;
    };
    at_once(async { tokio::join!(host.runtime.settled(), serving) }).await;
    let ServerState::Failed { error, .. } = host.state(SERVER) else {
        panic!("{:?}", host.state(SERVER))
    };
    let message = text(&*error);
    assert_eq!(
        (error.code(), error.phase()),
        (ErrorCode::AuthRequired, Phase::Handshake),
        "{message}"
    );
    assert_eq!(endpoint.waiting(), [""; 0]);
    host.end().await;
}

/// R5: everything but the versions is taken as it comes.
#[tokio::test]
async fn an_endpoint_may_say_strange_things_of_itself() {
    let versions = r#""supportedVersions":["2025-11-25","2026-07-28","draft"]"#;
    for members in [
        "",
        r#","capabilities":null,"_meta":null"#,
        r#","capabilities":[],"_meta":7"#,
        r#","capabilities":{"tools":true},"_meta":{"io.modelcontextprotocol/serverInfo":"acme"}"#,
        r#","_meta":[],"ttlMs":"soon","resultType":7,"instructions":null"#,
    ] {
        let (url, mut endpoint) = ScriptedHttp::bind().await;
        let host = Host::serve([server(&url)]);
        let serving = async {
            let request = endpoint.expect_post("server/discover").await;
            request
                .result_raw(&format!("{{{versions}{members}}}"))
                .await;
            endpoint
                .expect_post("tools/list")
                .await
                .result(listing(&["t"]))
                .await;
        };
        at_once(async { tokio::join!(host.runtime.settled(), serving) }).await;
        assert_eq!(host.tools(), ["t"], "{members}");
        host.end().await;
    }
}
