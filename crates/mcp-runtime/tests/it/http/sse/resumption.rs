//! Streams that break off, and go on where the endpoint has said how (R9).

use std::time::Duration;

use mcp_runtime::{CallOptions, ErrorCode};
use mcp_testkit::{EventStream, Exchange, HttpHandle, HttpResponse};
use serde_json::Value;
use tokio::time::Instant;

use super::super::{SESSION, check, check_alive, end, ready};
use super::{ok, streaming};
use crate::host::at_once;

/// Where to go on, after the shortest pause there is.
fn place(id: &str) -> String {
    format!("id: {id}\nretry: 100\ndata:\n\n")
}

/// A stream that ends after this.
async fn ends(mut stream: EventStream, text: &str) {
    stream.send_raw(text).await;
    stream.finish().await;
}

/// The stream of the call is asked for from this place on. The other stream, of what is said unasked, is asked for
/// without one.
async fn expect_resumption(server: &mut HttpHandle, place: &str) -> Exchange {
    loop {
        let request = server.expect_get().await;
        if request.header("last-event-id").is_none() {
            request.respond(HttpResponse::new(405)).await;
            continue;
        }
        let seen = ["last-event-id", "mcp-session-id"].map(|name| request.header(name));
        assert_eq!(seen, [Some(place), Some(SESSION)]);
        return request;
    }
}

async fn again(server: &mut HttpHandle, place: &str) -> EventStream {
    let request = expect_resumption(server, place).await;
    request.stream(HttpResponse::new(200)).await
}

/// R9: once, twice, with news or without, ended or cut.
#[tokio::test]
async fn an_answer_may_come_in_another_stream() {
    let (host, mut server) = ready(&["t"]).await;
    let serve = async |server: &mut HttpHandle, mut stream: EventStream, id: Value| {
        stream.send_raw(place("a")).await;
        drop(stream);
        ends(again(server, "a").await, ": nothing new\n\n").await;
        // What did not arrive whole is asked for again.
        ends(
            again(server, "a").await,
            "id: b\ndata: {}\n\nid: c\ndata: {",
        )
        .await;
        expect_resumption(server, "b")
            .await
            .respond(HttpResponse::new(503))
            .await;
        expect_resumption(server, "b").await.close();
        ends(again(server, "b").await, &ok(&id)).await;
    };
    let (outcome, ()) = streaming(&host, &mut server, serve).await;
    check(outcome, Ok(()), "streams one after the other");
    check_alive(&host, &mut server, "resumptions").await;
    end(&host, server).await;
}

/// R9: it waits as long as it was asked to.
#[tokio::test]
async fn a_stream_is_resumed_after_the_pause_that_the_server_asks_for() {
    let (host, mut server) = ready(&["t"]).await;
    let pause = Duration::from_millis(300);
    let serve = async |server: &mut HttpHandle, stream: EventStream, id: Value| {
        ends(stream, "retry: 300\nid: a\ndata:\n\n").await;
        let begun = Instant::now();
        let stream = again(server, "a").await;
        let waited = begun.elapsed();
        ends(stream, &ok(&id)).await;
        waited
    };
    let (outcome, waited) = streaming(&host, &mut server, serve).await;
    check(outcome, Ok(()), "a pause");
    // The stream's end takes its time to arrive, so the pause began before or after it was written.
    assert!(waited >= pause - Duration::from_millis(50), "{waited:?}");
    end(&host, server).await;
}

/// R9: at once, and for its own reason.
#[tokio::test]
async fn a_resumption_that_is_refused_fails_the_call() {
    let (host, mut server) = ready(&["t"]).await;
    let ended = (ErrorCode::TransportClosed, "ended before the answer");
    let rows = [
        (HttpResponse::new(405), ended),
        (HttpResponse::new(404), ended),
        (HttpResponse::new(400), ended),
        (HttpResponse::new(200).body("text/html", "<html>"), ended),
        (HttpResponse::new(401), (ErrorCode::AuthRequired, "401")),
    ];
    for (response, expected) in rows {
        let reason = format!("{response:?}");
        let serve = async |server: &mut HttpHandle, stream: EventStream, _: Value| {
            ends(stream, &place("a")).await;
            expect_resumption(server, "a").await.respond(response).await;
        };
        let (outcome, ()) = streaming(&host, &mut server, serve).await;
        check(outcome, Err(expected), &reason);
        check_alive(&host, &mut server, &reason).await;
    }
    end(&host, server).await;
}

/// R9, B3: neither in a hurry nor beyond the deadline.
#[tokio::test]
async fn a_stream_that_always_ends_is_resumed_until_the_deadline() {
    let (host, mut server) = ready(&["t"]).await;
    let options = CallOptions::new().timeout(Duration::from_millis(600));
    let mut times = 0;
    let serving = async {
        let request = server.expect_post("tools/call").await;
        let hurried = "retry: 0\nid: a\ndata:\n\n";
        ends(request.stream(HttpResponse::new(200)).await, hurried).await;
        loop {
            ends(again(&mut server, "a").await, hurried).await;
            times += 1;
        }
    };
    let outcome = tokio::select! {
        outcome = host.call_with("t", options) => outcome,
        () = serving => unreachable!("it goes on for ever"),
    };
    check(outcome, Err((ErrorCode::RequestTimeout, "0.6 s")), "no end");
    // After pauses of 0.1, 0.2 and 0.4 s.
    assert!((1..=3).contains(&times), "it was resumed {times} times");
    at_once(server.expect_post("notifications/cancelled"))
        .await
        .accept()
        .await;
    end(&host, server).await;
}

/// By the book, an event that was not ended never was: what it asks comes again, and is answered once.
#[tokio::test]
async fn what_a_broken_event_asks_is_answered_when_it_comes_whole() {
    let (host, mut server) = ready(&["t"]).await;
    let ping = r#"data: {"jsonrpc":"2.0","id":"p","method":"ping"}"#;
    let serve = async |server: &mut HttpHandle, mut stream: EventStream, id: Value| {
        stream.send_raw(place("a")).await;
        ends(stream, ping).await;
        let mut stream = again(server, "a").await;
        stream.send_raw(format!("{ping}\n\n")).await;
        let answer = server.expect_post_of_response().await;
        assert_eq!(answer.id(), "p");
        answer.accept().await;
        assert_eq!(server.waiting(), [""; 0], "it is answered once");
        ends(stream, &ok(&id)).await;
    };
    let (outcome, ()) = streaming(&host, &mut server, serve).await;
    check(outcome, Ok(()), "the call goes on");
    end(&host, server).await;
}
