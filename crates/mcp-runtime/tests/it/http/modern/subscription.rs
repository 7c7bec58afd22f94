//! Announcements, which in this era come to those who asked, on a stream for as long as it is open (C9).

use std::time::Duration;

use mcp_runtime::RuntimeEvent;
use mcp_testkit::{EventStream, Exchange, HttpHandle, HttpResponse, ScriptedHttp};
use serde_json::{Value, json};

use super::super::listing;
use super::{check_request, discovered, server};
use crate::host::{Host, at_once};

/// A message of the subscription with this id.
fn of(id: &Value, method: &str) -> Value {
    let meta = json!({"io.modelcontextprotocol/subscriptionId": id});
    json!({"jsonrpc": "2.0", "method": method, "params": {"_meta": meta}})
}

/// Takes the next subscription; its stream, and the id that its messages carry.
async fn subscribed(endpoint: &mut HttpHandle) -> (EventStream, Value) {
    let request = endpoint.expect_post("subscriptions/listen").await;
    check_request(&request, None);
    assert_eq!(
        request.params()["notifications"],
        json!({"toolsListChanged": true})
    );
    let id = request.id().clone();
    let mut stream = request.stream(HttpResponse::new(200)).await;
    let acknowledged = of(&id, "notifications/subscriptions/acknowledged");
    stream.event(&acknowledged).await;
    (stream, id)
}

/// Begins to start against an endpoint that announces changes.
async fn announcing() -> (Host, HttpHandle) {
    let (url, mut endpoint) = ScriptedHttp::bind().await;
    let host = Host::serve([server(&url)]);
    let request = at_once(endpoint.expect_post("server/discover")).await;
    let capabilities = json!({"tools": {"listChanged": true}});
    request.result(discovered(&capabilities)).await;
    (host, endpoint)
}

async fn lists(endpoint: &mut HttpHandle, tools: &[&str]) {
    let request = endpoint.expect_post("tools/list").await;
    request.result(listing(tools)).await;
}

/// A ready host with a subscription.
async fn ready() -> (Host, HttpHandle, EventStream, Value) {
    let (host, mut endpoint) = announcing().await;
    let serving = async {
        // Before the listing, so that no change after it goes unannounced.
        let (stream, id) = subscribed(&mut endpoint).await;
        lists(&mut endpoint, &["t"]).await;
        host.runtime.settled().await;
        (stream, id)
    };
    let (stream, id) = at_once(serving).await;
    (host, endpoint, stream, id)
}

async fn await_change(host: &mut Host, tools: usize) {
    let is_change = |event: &RuntimeEvent| matches!(event, RuntimeEvent::CatalogChanged { tools: listed, .. } if *listed == tools);
    host.await_event(is_change).await;
}

/// C9
#[tokio::test]
async fn a_change_that_is_announced_is_listed() {
    let (mut host, mut endpoint, mut stream, id) = ready().await;
    stream.keep_alive().await;
    for tools in [vec!["t", "u"], vec!["t", "u", "v"]] {
        stream
            .event(&of(&id, "notifications/tools/list_changed"))
            .await;
        lists(&mut endpoint, &tools).await;
        await_change(&mut host, tools.len()).await;
        assert_eq!(host.tools(), tools);
    }
    host.end().await;
    at_once(stream.expect_disconnect()).await;
    assert_eq!(
        endpoint.waiting(),
        [""; 0],
        "nobody is told that it is over"
    );
}

/// C9: after a pause, and what was announced to nobody meanwhile is listed.
#[tokio::test]
async fn a_subscription_that_ends_is_opened_again() {
    let complete =
        |id: &Value| json!({"jsonrpc": "2.0", "id": id, "result": {"resultType": "complete"}});
    for is_answered in [true, false] {
        let (mut host, mut endpoint, mut stream, id) = ready().await;
        if is_answered {
            stream.event(&complete(&id)).await;
            stream.finish().await;
        } else {
            drop(stream);
        }
        endpoint.expect_nothing(Duration::from_millis(300)).await;
        let (mut stream, id) = subscribed(&mut endpoint).await;
        lists(&mut endpoint, &["t", "u"]).await;
        await_change(&mut host, 2).await;
        stream
            .event(&of(&id, "notifications/tools/list_changed"))
            .await;
        lists(&mut endpoint, &["t"]).await;
        await_change(&mut host, 1).await;
        host.end().await;
    }
}

/// C9: an endpoint that refuses subscriptions is a good one, and is asked no more.
#[tokio::test]
async fn a_refused_subscription_costs_the_announcements_only() {
    let refusals = [200, 400, 404].map(async |status| {
        let (mut host, mut endpoint) = announcing().await;
        let serving = async {
            let request: Exchange = endpoint.expect_post("subscriptions/listen").await;
            let error = json!({"code": -32_601, "message": "Method not found"});
            let answer = json!({"jsonrpc": "2.0", "id": request.id(), "error": error});
            let response = HttpResponse::new(status).json(&answer);
            request.respond(response).await;
            lists(&mut endpoint, &["t"]).await;
        };
        at_once(async { tokio::join!(host.runtime.settled(), serving) }).await;
        assert_eq!(host.tools(), ["t"], "{status}");
        endpoint.expect_nothing(Duration::from_millis(200)).await;
        let told = host.told();
        assert!(
            told.iter()
                .all(|event| !matches!(event, RuntimeEvent::Failed { .. })),
            "{told:?}"
        );
        host.end().await;
    });
    futures_util::future::join_all(refusals).await;
}
