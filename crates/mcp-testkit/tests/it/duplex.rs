//! The in-process server.

use std::time::Duration;

use mcp_testkit::{ClientIo, Handshake, ScriptedServer, ServerHandle};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::failing::failure_of;

/// A server whose client has sent `sent` and reads nothing by itself.
async fn after(sent: &[u8]) -> (ClientIo, ServerHandle) {
    let (mut client, server) = ScriptedServer::duplex();
    client
        .1
        .write_all(sent)
        .await
        .expect("the stream holds what a test sends");
    (client, server)
}

/// Everything the server sent, once it has closed.
async fn received(mut client: ClientIo, server: ServerHandle) -> String {
    server.close().await;
    let mut received = Vec::new();
    client
        .0
        .read_to_end(&mut received)
        .await
        .expect("an in-memory stream");
    String::from_utf8_lossy(&received).into_owned()
}

const LIST: &[u8] =
    b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/list\",\"params\":{\"cursor\":\"c\"}}\n";
const INITIALIZED: &[u8] = b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n";

#[tokio::test(start_paused = true)]
async fn answers_carry_the_id_of_their_request() {
    let (client, mut server) = after(LIST).await;
    let listing = server.expect_request("tools/list").await;
    assert_eq!(
        (listing.id(), listing.params()),
        (&json!(7), &json!({"cursor": "c"}))
    );
    assert_eq!(listing.raw(), LIST.strip_suffix(b"\n").expect("one line"));
    listing.result(json!({"tools": []})).await;
    assert_eq!(
        received(client, server).await,
        "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"tools\":[]}}\n"
    );
}

#[tokio::test(start_paused = true)]
async fn answers_may_come_in_any_order() {
    let (client, mut server) =
        after(b"{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"x\"}\n{\"jsonrpc\":\"2.0\",\"id\":\"b\",\"method\":\"y\"}\n").await;
    let first = server.expect_any_request().await;
    let second = server.expect_any_request().await;
    second.error(-32601, "no", Value::Null).await;
    first.result_raw("1e2").await;
    assert_eq!(
        received(client, server).await,
        "{\"jsonrpc\":\"2.0\",\"id\":\"b\",\"error\":{\"code\":-32601,\"message\":\"no\"}}\n{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"result\":1e2}\n"
    );
}

#[tokio::test(start_paused = true)]
async fn raw_bytes_go_out_as_they_are() {
    let (mut client, server) = after(b"").await;
    server.send_raw(b"\xef\xbb\xbf{\xff\r\n{\"half").await;
    server.close().await;
    let mut received = Vec::new();
    client
        .0
        .read_to_end(&mut received)
        .await
        .expect("an in-memory stream");
    assert_eq!(received, b"\xef\xbb\xbf{\xff\r\n{\"half");
}

#[tokio::test(start_paused = true)]
async fn plays_the_handshake() {
    let mut sent = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\"}}\n".to_vec();
    sent.extend_from_slice(INITIALIZED);
    let (client, mut server) = after(&sent).await;
    let params = server
        .initialize(
            Handshake::new()
                .capabilities(json!({}))
                .instructions("be kind"),
        )
        .await;
    assert_eq!(params, json!({"protocolVersion": "2025-11-25"}));
    let answer: Value =
        serde_json::from_str(&received(client, server).await).expect("one line of JSON");
    assert_eq!(
        answer["result"],
        json!({"protocolVersion": "2025-11-25", "capabilities": {}, "instructions": "be kind",
            "serverInfo": {"name": "scripted", "version": "1.0.0"}})
    );
}

#[tokio::test(start_paused = true)]
async fn asks_the_client_and_gets_its_response() {
    let ((from_server, mut to_server), mut server) = ScriptedServer::duplex();
    let id = server.request("roots/list", Value::Null).await;
    to_server
        .write_all(b"{\"jsonrpc\":\"2.0\",\"id\":\"server-1\",\"result\":{\"roots\":[]}}\n")
        .await
        .expect("in memory");
    assert_eq!(
        server.expect_response(&id).await["result"],
        json!({"roots": []})
    );
    assert_eq!(
        received((from_server, to_server), server).await,
        "{\"id\":\"server-1\",\"jsonrpc\":\"2.0\",\"method\":\"roots/list\"}\n"
    );
}

#[tokio::test(start_paused = true)]
async fn a_wrong_method_fails_with_what_came_and_where_it_was_expected() {
    let (_client, mut server) = after(LIST).await;
    let failure = failure_of(server.expect_request("tools/call")).await;
    assert!(
        failure.starts_with(
            "expected request \"tools/call\" within 10s, got request \"tools/list\": {\"jsonrpc\""
        ),
        "{failure}"
    );
    assert!(failure.contains(file!()), "{failure}");
}

#[tokio::test(start_paused = true)]
async fn each_wrong_arrival_is_told_in_words() {
    let deaf = {
        let (client, mut server) = after(LIST).await;
        server.stop_reading();
        (client, server)
    };
    let gone = {
        let ((from_server, mut to_server), server) = ScriptedServer::duplex();
        to_server.write_all(b"{\"half").await.expect("in memory");
        (from_server, server)
    };
    let rows = [
        (
            after(INITIALIZED).await.1,
            "got notification \"notifications/initialized\"",
            "a notification is no request",
        ),
        (
            after(b"{\"id\":3,\"result\":1}\n").await.1,
            "got response to 3",
            "nor is a response",
        ),
        (
            after(b"garbage\n").await.1,
            "got a line that is no JSON-RPC message: garbage",
            "nor is noise",
        ),
        (
            gone.1,
            "closed its output in the middle of a line: {\"half",
            "the end tells what was cut",
        ),
        (deaf.1, "stopped reading", "a deaf server cannot expect"),
    ];
    for (mut server, expected, reason) in rows {
        let failure = failure_of(server.expect_request("ping")).await;
        assert!(failure.contains(expected), "{reason}: {failure}");
    }
}

#[tokio::test(start_paused = true)]
async fn silence_fails_at_the_deadline() {
    let (_client, mut server) = after(b"").await;
    server.set_deadline(Duration::from_secs(3));
    let began = tokio::time::Instant::now();
    let failure = failure_of(server.expect_notification("notifications/cancelled")).await;
    assert!(failure.contains("within 3s, got nothing"), "{failure}");
    assert_eq!(began.elapsed(), Duration::from_secs(3));
}

#[tokio::test(start_paused = true)]
async fn expected_silence_fails_on_a_message() {
    let (_client, mut server) = after(b"").await;
    server.expect_nothing(Duration::from_secs(60)).await;
    let (_client, mut server) = after(LIST).await;
    let failure = failure_of(server.expect_nothing(Duration::from_secs(60))).await;
    assert!(
        failure.contains("expected nothing for 60s, got request \"tools/list\""),
        "{failure}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_half_line_waits_for_its_end() {
    let ((_from_server, mut to_server), mut server) = ScriptedServer::duplex();
    to_server.write_all(&LIST[..20]).await.expect("in memory");
    server.expect_nothing(Duration::from_secs(1)).await;
    to_server.write_all(&LIST[20..]).await.expect("in memory");
    server.expect_request("tools/list").await.leave_unanswered();
    drop(to_server);
    server.expect_end().await;
}

#[tokio::test(start_paused = true)]
async fn a_dropped_responder_fails_the_test() {
    let (_client, mut server) = after(LIST).await;
    let listing = server.expect_request("tools/list").await;
    let failure = failure_of(async move { drop(listing) }).await;
    assert!(
        failure.contains("dropped without an answer to request \"tools/list\""),
        "{failure}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_responder_dropped_by_another_failure_keeps_quiet() {
    let (_client, mut server) = after(LIST).await;
    let failure = failure_of(async move {
        let _listing = server.expect_request("tools/list").await;
        panic!("{}", String::from("the first failure"));
    })
    .await;
    assert_eq!(failure, "the first failure");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_is_asked_for_nothing_reads_nothing() {
    let ((_from_server, mut to_server), mut server) = ScriptedServer::duplex_with_capacity(64);
    server.stop_reading();
    let written =
        tokio::time::timeout(Duration::from_secs(60), to_server.write_all(&[b'x'; 65])).await;
    assert!(written.is_err(), "65 bytes fit into a stream of 64");
}

#[tokio::test(start_paused = true)]
async fn each_direction_closes_by_itself() {
    let ((mut from_server, mut to_server), mut server) = ScriptedServer::duplex();
    server.close_output().await;
    assert_eq!(
        from_server.read(&mut [0; 8]).await.expect("in memory"),
        0,
        "the client reads EOF"
    );
    to_server
        .write_all(LIST)
        .await
        .expect("the server still reads");
    server.expect_request("tools/list").await.leave_unanswered();
    server.close_input();
    assert!(
        to_server.write_all(LIST).await.is_err(),
        "the server reads no more"
    );
}
