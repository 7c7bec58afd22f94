//! The HTTP server.

use std::time::Duration;

use mcp_testkit::{Handshake, HttpHandle, HttpResponse, ScriptedHttp};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::failing::failure_of;

/// A client that writes requests and reads what comes.
struct Client(TcpStream);

impl Client {
    async fn connect(server: &HttpHandle) -> Self {
        Self(
            TcpStream::connect(server.address())
                .await
                .expect("the server listens"),
        )
    }

    async fn send(&mut self, bytes: &str) {
        self.0
            .write_all(bytes.as_bytes())
            .await
            .expect("the server reads");
    }

    async fn post(&mut self, message: &Value) {
        let body = message.to_string();
        self.send(&format!(
            "POST /mcp HTTP/1.1\r\nContent-Length: {}\r\nX-One: 1\r\n\r\n{body}",
            body.len()
        ))
        .await;
    }

    /// Reads exactly `expected`.
    async fn reads(&mut self, expected: &str) {
        let mut read = vec![0; expected.len()];
        self.0
            .read_exact(&mut read)
            .await
            .expect("the server answers");
        assert_eq!(String::from_utf8_lossy(&read), expected);
    }

    /// Reads exactly a 200 with this JSON body.
    async fn reads_json(&mut self, body: &str) {
        let length = body.len();
        let head = "HTTP/1.1 200 \r\nContent-Type: application/json\r\nContent-Length: ";
        self.reads(&format!("{head}{length}\r\n\r\n{body}")).await;
    }

    /// Reads EOF.
    async fn reads_end(&mut self) {
        assert_eq!(self.0.read(&mut [0; 8]).await.expect("a clean end"), 0);
    }
}

fn ping(id: u64) -> Value {
    json!({"id": id, "method": "ping"})
}

#[tokio::test]
async fn answers_one_request_after_the_other_on_one_connection() {
    let (url, mut server) = ScriptedHttp::bind().await;
    assert_eq!(url, format!("http://{}/mcp", server.address()));
    let mut client = Client::connect(&server).await;
    client.post(&ping(1)).await;
    let exchange = server.expect_post("ping").await;
    assert_eq!(
        (exchange.path(), exchange.header("x-one")),
        ("/mcp", Some("1"))
    );
    assert_eq!(
        (exchange.id(), exchange.body()),
        (&json!(1), ping(1).to_string().as_bytes())
    );
    exchange.result_raw("1e2").await;
    client
        .reads_json(r#"{"jsonrpc":"2.0","id":1,"result":1e2}"#)
        .await;

    client.post(&ping(2)).await;
    server
        .expect_post("ping")
        .await
        .error(-1, "m", Value::Null)
        .await;
    client
        .reads_json(r#"{"jsonrpc":"2.0","id":2,"error":{"code":-1,"message":"m"}}"#)
        .await;

    client
        .post(&json!({"method": "notifications/initialized"}))
        .await;
    server
        .expect_post("notifications/initialized")
        .await
        .accept()
        .await;
    client
        .reads("HTTP/1.1 202 \r\nContent-Length: 0\r\n\r\n")
        .await;

    client.post(&json!({"id": "server-1", "result": {}})).await;
    server
        .expect_post_of_response()
        .await
        .respond(HttpResponse::new(204))
        .await;
    client.reads("HTTP/1.1 204 \r\n\r\n").await;

    client.send("DELETE /mcp HTTP/1.1\r\n\r\n").await;
    server
        .expect_delete()
        .await
        .respond(HttpResponse::new(405).header("Allow", "POST"))
        .await;
    client
        .reads("HTTP/1.1 405 \r\nAllow: POST\r\nContent-Length: 0\r\n\r\n")
        .await;
}

#[tokio::test]
async fn a_chunked_request_is_put_together() {
    let (_url, mut server) = ScriptedHttp::bind().await;
    let mut client = Client::connect(&server).await;
    client.send("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n11\r\n{\"method\":\"ping\",\r\n7\r\n\"id\":1}\r\n0\r\n\r\n").await;
    let exchange = server.expect_post("ping").await;
    assert_eq!(exchange.message(), &ping(1));
    exchange.close();
    client.reads_end().await;
}

#[tokio::test]
async fn events_come_in_the_pieces_they_were_sent_in() {
    let (_url, mut server) = ScriptedHttp::bind().await;
    let mut client = Client::connect(&server).await;
    client.send("GET /mcp HTTP/1.1\r\n\r\n").await;
    let mut events = server
        .expect_get()
        .await
        .stream(HttpResponse::new(200))
        .await;
    client.reads("HTTP/1.1 200 \r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n").await;
    events.keep_alive().await;
    client.reads("e\r\n: keep-alive\n\n\r\n").await;
    events.event(&json!({})).await;
    client.reads("19\r\nevent: message\ndata: {}\n\n\r\n").await;
    events.event_with_id("7", &json!({})).await;
    client
        .reads("1f\r\nid: 7\nevent: message\ndata: {}\n\n\r\n")
        .await;
    events.send_raw("").await;
    events.send_raw("da").await;
    client.reads("2\r\nda\r\n").await;
    events.finish().await;
    client.reads("0\r\n\r\n").await;
    client.post(&ping(1)).await;
    server.expect_post("ping").await.close();
}

#[tokio::test]
async fn a_dropped_stream_cuts_the_connection() {
    let (_url, mut server) = ScriptedHttp::bind().await;
    let mut client = Client::connect(&server).await;
    client.post(&ping(1)).await;
    drop(
        server
            .expect_post("ping")
            .await
            .stream(HttpResponse::new(200).body("text/html", ""))
            .await,
    );
    client
        .reads("HTTP/1.1 200 \r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n")
        .await;
    client.reads_end().await;
}

#[tokio::test]
async fn connections_are_answered_in_any_order() {
    let (_url, mut server) = ScriptedHttp::bind().await;
    let (mut first, mut second) = (
        Client::connect(&server).await,
        Client::connect(&server).await,
    );
    first.send("GET /mcp HTTP/1.1\r\n\r\n").await;
    second.post(&ping(1)).await;
    server.expect_post("ping").await.accept().await;
    second.reads("HTTP/1.1 202 ").await;
    server.expect_get().await.accept().await;
    first.reads("HTTP/1.1 202 ").await;
}

#[tokio::test]
async fn plays_the_handshake_with_a_session() {
    let (_url, mut server) = ScriptedHttp::bind().await;
    let (mut client, mut next) = (
        Client::connect(&server).await,
        Client::connect(&server).await,
    );
    client
        .post(&json!({"id": 1, "method": "initialize", "params": {"protocolVersion": "v"}}))
        .await;
    next.post(&json!({"method": "notifications/initialized"}))
        .await;
    let params = server.initialize(Handshake::new(), Some("s-1")).await;
    assert_eq!(params, json!({"protocolVersion": "v"}));
    client
        .reads("HTTP/1.1 200 \r\nMcp-Session-Id: s-1\r\nContent-Type: application/json\r\n")
        .await;
    next.reads("HTTP/1.1 202 ").await;
}

#[tokio::test]
async fn a_client_that_gives_up_is_noticed() {
    let (_url, mut server) = ScriptedHttp::bind().await;
    let mut client = Client::connect(&server).await;
    client.post(&ping(1)).await;
    let held = server.expect_post("ping").await.hang();
    drop(client);
    held.expect_disconnect().await;

    server.set_deadline(Duration::from_millis(50));
    let mut client = Client::connect(&server).await;
    client.post(&ping(1)).await;
    let held = server.expect_post("ping").await.hang();
    let failure = failure_of(held.expect_disconnect()).await;
    assert!(
        failure.contains("within 50ms, it is still there"),
        "{failure}"
    );
}

#[tokio::test]
async fn what_does_not_fit_is_shown() {
    let (_url, mut server) = ScriptedHttp::bind().await;
    server.set_deadline(Duration::from_millis(50));
    let failure = failure_of(server.expect_get()).await;
    assert!(
        failure.starts_with("expected GET within 50ms, got nothing"),
        "{failure}"
    );
    server.expect_nothing(Duration::from_millis(1)).await;

    let mut client = Client::connect(&server).await;
    client.post(&ping(1)).await;
    let failure = failure_of(server.expect_post("tools/list")).await;
    let expected =
        "expected POST of \"tools/list\" within 50ms, got:\n  POST /mcp with request \"ping\": {";
    assert!(
        failure.starts_with(expected) && failure.contains(file!()),
        "{failure}"
    );
    let failure = failure_of(server.expect_nothing(Duration::from_secs(60))).await;
    assert!(
        failure.contains("POST /mcp with request \"ping\""),
        "{failure}"
    );
}

#[tokio::test]
async fn a_dropped_exchange_fails_the_test() {
    let (_url, mut server) = ScriptedHttp::bind().await;
    let mut client = Client::connect(&server).await;
    client.post(&ping(1)).await;
    let exchange = server.expect_post("ping").await;
    let failure = failure_of(async move { drop(exchange) }).await;
    assert!(
        failure.contains("dropped without an answer to POST /mcp with request \"ping\""),
        "{failure}"
    );
}

#[tokio::test]
async fn a_server_goes_away_and_comes_back_at_its_address() {
    let (_url, mut server) = ScriptedHttp::bind().await;
    let address = server.address();
    let mut client = Client::connect(&server).await;
    client.post(&ping(1)).await;
    server.expect_post("ping").await.accept().await;
    client
        .reads("HTTP/1.1 202 \r\nContent-Length: 0\r\n\r\n")
        .await;
    server.close().await;
    client.reads_end().await;
    assert!(TcpStream::connect(address).await.is_err(), "nobody listens");
    let (_url, server) = ScriptedHttp::bind_at(address).await;
    Client::connect(&server).await;
}

#[tokio::test]
async fn what_is_not_http_is_refused() {
    let (_url, server) = ScriptedHttp::bind().await;
    let rows = [
        ("\x16\x03\x01\r\n", "not a request line"),
        ("GET / HTTP/1.1\n", "a line does not end in CR LF"),
        ("GET / HTTP/1.1\r\nno colon\r\n", "not a header"),
        (
            "POST / HTTP/1.1\r\nContent-Length: many\r\n\r\n",
            "content length",
        ),
    ];
    for (sent, why) in rows {
        let mut client = Client::connect(&server).await;
        client.send(sent).await;
        let mut answer = String::new();
        client
            .0
            .read_to_string(&mut answer)
            .await
            .expect("an answer");
        assert!(
            answer.starts_with("HTTP/1.1 400 ") && answer.contains(why),
            "{sent:?}: {answer}"
        );
    }
}
