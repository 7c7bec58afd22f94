//! What an endpoint says unasked, on a stream that it may offer or not (R9, R10, C9).

use std::time::Duration;

use futures_util::future::join_all;
use mcp_runtime::{CallOptions, RuntimeEvent};
use mcp_testkit::{EventStream, Exchange, Handshake, HttpHandle, HttpResponse};
use serde_json::{Value, json};

use super::{OK, SESSION, called, check, check_alive, end, listing, ready};
use crate::host::{Host, at_once};

/// A ready host, and the stream that it listens to.
async fn listening() -> (Host, HttpHandle, EventStream) {
    let (host, mut server) = ready(&["t"]).await;
    let stream = server
        .expect_get()
        .await
        .stream(HttpResponse::new(200))
        .await;
    (host, server, stream)
}

/// How many times more the stream was asked for.
fn gets(server: &mut HttpHandle) -> usize {
    server
        .waiting()
        .iter()
        .filter(|name| *name == "GET")
        .count()
}

/// The stream is asked for, in this session and from this place on.
async fn expect_get(server: &mut HttpHandle, session: &str, place: Option<&str>) -> Exchange {
    let request = server.expect_get().await;
    let seen = ["mcp-session-id", "last-event-id"].map(|name| request.header(name));
    assert_eq!(seen, [Some(session), place]);
    request
}

/// R9: an endpoint without such a stream is a good one, and is not asked for it again.
#[tokio::test]
async fn an_endpoint_need_not_offer_a_stream() {
    let page = |kind: &str| HttpResponse::new(200).body(kind, "hello");
    let status = HttpResponse::new;
    let rows = [
        (status(405).header("Allow", "POST, DELETE"), "405"),
        (status(400), "400"),
        (status(401), "401"),
        (status(403), "403"),
        (status(404), "404"),
        (status(406), "406"),
        (
            status(302).header("Location", "http://example.invalid/"),
            "302",
        ),
        (page("text/html"), "a page"),
        (page("application/json"), "JSON"),
        (status(200), "nothing"),
        (status(204), "204"),
    ];
    let rows = rows.map(async |(response, reason)| {
        let (host, mut server) = ready(&["t"]).await;
        server.expect_get().await.respond(response).await;
        check_alive(&host, &mut server, reason).await;
        server.expect_nothing(Duration::from_millis(200)).await;
        end(&host, server).await;
    });
    join_all(rows).await;
}

/// R9: what may pass is tried again, but not at once; and nobody waits for it.
#[tokio::test]
async fn a_stream_that_does_not_last_is_not_asked_for_in_a_hurry() {
    let events = |text: &str| Some(HttpResponse::new(200).body("text/event-stream", text));
    let status = |status| Some(HttpResponse::new(status));
    let rows = [
        (None, "it closes"),
        (status(500), "500"),
        (status(503), "503"),
        (status(429), "429"),
        (events(""), "it ends"),
        (events(": hello\n\n"), "it ends with a comment"),
        (events("id: 1\ndata:\n\n"), "it says where to go on"),
        (events("retry: 60000\n\n"), "it wants to be left alone"),
        (events("retry: soon\n\n"), "a wish that is none"),
    ];
    let rows = rows.map(async |(response, reason)| {
        let (host, mut server) = ready(&["t"]).await;
        let request = server.expect_get().await;
        match response {
            Some(response) => request.respond(response).await,
            None => request.close(),
        }
        check_alive(&host, &mut server, reason).await;
        server.expect_nothing(Duration::from_millis(300)).await;
        end(&host, server).await;
    });
    join_all(rows).await;
}

/// R9: also when the server asks for it.
#[tokio::test]
async fn a_server_that_wants_no_pause_gets_one() {
    let (host, mut server) = ready(&["t"]).await;
    let mut times = 0;
    let ending = async {
        loop {
            let response = HttpResponse::new(200);
            let response = response.body("text/event-stream", "retry: 0\n\n");
            server.expect_get().await.respond(response).await;
            times += 1;
        }
    };
    let patience = tokio::time::sleep(Duration::from_millis(500));
    tokio::select! {
        () = ending => unreachable!("it goes on for ever"),
        () = patience => {}
    }
    // At once, and after pauses of 0.1, 0.2 and 0.4 s.
    assert!((2..=4).contains(&times), "it was asked for {times} times");
    end(&host, server).await;
}

/// C9
#[tokio::test]
async fn announcements_and_logs_come_on_the_stream() {
    let (mut host, mut server, mut stream) = listening().await;
    let log = json!({"level": "info", "data": {"n": 1}});
    let notice = |method: &str, params: &Value| json!({"jsonrpc": "2.0", "method": method, "params": params});
    stream.event(&notice("notifications/message", &log)).await;
    stream
        .event(&notice("notifications/tools/list_changed", &json!({})))
        .await;
    server
        .expect_post("tools/list")
        .await
        .result(listing(&["t", "u"]))
        .await;
    host.await_event(|event| matches!(event, RuntimeEvent::Log { .. }))
        .await;
    host.await_event(|event| matches!(event, RuntimeEvent::CatalogChanged { tools: 2, .. }))
        .await;
    assert_eq!(host.tools(), ["t", "u"]);
    end(&host, server).await;
    at_once(stream.expect_disconnect()).await;
}

/// R7: whatever else comes on it.
#[tokio::test]
async fn a_server_may_ask_on_the_stream() {
    let (host, mut server, mut stream) = listening().await;
    stream
        .send_raw(": hello\n\nevent: ping\ndata: x\n\ndata: noise\n\ndata: [1]\n\nid: 5\n\n")
        .await;
    for id in [json!("p"), json!(1), json!(-1.5)] {
        stream
            .event(&json!({"jsonrpc": "2.0", "id": id, "method": "ping"}))
            .await;
        let answer = server.expect_post_of_response().await;
        assert_eq!(
            answer.message(),
            &json!({"jsonrpc": "2.0", "id": id, "result": {}})
        );
        answer.accept().await;
    }
    check_alive(&host, &mut server, "questions").await;
    end(&host, server).await;
}

/// R9: an endpoint may take a request and answer it there.
#[tokio::test]
async fn an_answer_may_come_on_the_stream() {
    let (host, mut server, mut stream) = listening().await;
    let answer = async |request: Exchange| {
        let answer = super::for_request(OK, &request);
        request.accept().await;
        stream.send_raw(format!("data: {answer}\n\n")).await;
    };
    check(
        called(&host, &mut server, answer).await,
        Ok(()),
        "on another stream",
    );
    end(&host, server).await;
}

/// R9: where it broke off, as often as it does.
#[tokio::test]
async fn the_stream_goes_on_where_it_broke_off() {
    let (host, mut server, mut stream) = listening().await;
    stream
        .send_raw("id: a\nretry: 100\ndata:\n\nid: b\ndata: {}\n\nid: c\ndata: {")
        .await;
    drop(stream);
    let again = expect_get(&mut server, SESSION, Some("b")).await;
    let mut stream = again.stream(HttpResponse::new(200)).await;
    stream.send_raw("id: d\ndata: {}\n\n").await;
    stream.finish().await;
    expect_get(&mut server, SESSION, Some("d"))
        .await
        .respond(HttpResponse::new(405))
        .await;
    check_alive(&host, &mut server, "streams that broke").await;
    assert_eq!(gets(&mut server), 0, "it was refused");
    end(&host, server).await;
}

/// R10: a new session has a stream of its own, and the old one is left.
#[tokio::test]
async fn a_new_session_is_listened_to() {
    let (host, mut server, mut stream) = listening().await;
    stream.send_raw("id: old\ndata:\n\n").await;
    let call = host.prepare("t").execute(CallOptions::new());
    let renewing = async {
        server
            .expect_post("tools/call")
            .await
            .respond(HttpResponse::new(404))
            .await;
        server.initialize(Handshake::new(), Some("next")).await;
        server
            .expect_post("tools/call")
            .await
            .result(json!({}))
            .await;
    };
    tokio::join!(call, renewing)
        .0
        .expect("it is sent once more");
    at_once(stream.expect_disconnect()).await;
    expect_get(&mut server, "next", None)
        .await
        .respond(HttpResponse::new(405))
        .await;
    end(&host, server).await;
}

/// R10: an endpoint that no longer knows the session may say so there first, while nobody calls anything.
#[tokio::test]
async fn a_session_may_be_lost_while_nobody_calls() {
    let (host, mut server, mut stream) = listening().await;
    stream.send_raw("retry: 100\n\n").await;
    stream.finish().await;
    expect_get(&mut server, SESSION, None)
        .await
        .respond(HttpResponse::new(404))
        .await;
    server.initialize(Handshake::new(), Some("next")).await;
    server
        .expect_post("tools/list")
        .await
        .result(listing(&["t", "u"]))
        .await;
    // It never had a stream in this one, so that there is none says nothing.
    expect_get(&mut server, "next", None)
        .await
        .respond(HttpResponse::new(404))
        .await;
    let listed = async {
        while host.tools() != ["t", "u"] {
            tokio::task::yield_now().await;
        }
    };
    at_once(listed).await;
    assert_eq!(server.waiting(), [""; 0]);
    check_alive(&host, &mut server, "a session that was lost").await;
    end(&host, server).await;
}
