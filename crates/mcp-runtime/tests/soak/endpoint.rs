//! An endpoint that misbehaves.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_testkit::{Exchange, Handshake, HttpHandle, HttpResponse, ScriptedHttp};
use serde_json::{Value, json};
use tokio::task::{AbortHandle, JoinSet};

use crate::fault::{OF_ENDPOINTS, OVERSIZE, tools};

/// Serves until dropped.
#[derive(Debug)]
pub(crate) struct Endpoint {
    pub(crate) url: String,
    seen: Arc<Mutex<Seen>>,
    serving: AbortHandle,
}

/// Calls by their numbers.
#[derive(Debug, Default)]
struct Seen {
    acted_on: Vec<u64>,
    refused: HashSet<u64>,
}

impl Seen {
    /// Whether a call is acted on; of a session that was forgotten, it is not yet.
    fn takes(&mut self, nonce: u64, tool: &str) -> bool {
        let is_taken = tool != "forgotten" || !self.refused.insert(nonce);
        if is_taken {
            self.acted_on.push(nonce);
        }
        is_taken
    }
}

impl Endpoint {
    pub(crate) async fn bind() -> Self {
        let (url, mut server) = ScriptedHttp::bind().await;
        server.set_deadline(Duration::from_secs(24 * 3_600));
        let seen = Arc::default();
        let serving = tokio::spawn(serve(server, Arc::clone(&seen)));
        Self {
            url,
            seen,
            serving: serving.abort_handle(),
        }
    }

    /// The numbers of the calls that were acted on.
    pub(crate) fn acted_on(&self) -> Vec<u64> {
        self.seen.lock().expect("nobody panics").acted_on.clone()
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn serve(mut server: HttpHandle, seen: Arc<Mutex<Seen>>) {
    let mut answering = JoinSet::new();
    loop {
        let exchange = server.expect_any().await.forgiving();
        while answering.try_join_next().is_some() {}
        answering.spawn(answer(exchange, seen.clone()));
    }
}

async fn answer(exchange: Exchange, seen: Arc<Mutex<Seen>>) {
    match exchange.message()["method"].as_str() {
        Some("initialize") => {
            let result = Handshake::new().result(exchange.params());
            let message = envelope(exchange.id(), &result);
            let response = HttpResponse::new(200).header("Mcp-Session-Id", "session");
            exchange.respond(response.json(&message)).await;
        }
        Some("tools/list") => {
            let tools: Vec<_> = tools(OF_ENDPOINTS)
                .iter()
                .map(|name| json!({"name": name}))
                .collect();
            exchange.result(json!({"tools": tools})).await;
        }
        Some("tools/call") => call(exchange, &seen).await,
        Some(_) => exchange.accept().await,
        None if exchange.verb() == "GET" => resume(exchange).await,
        None => exchange.respond(HttpResponse::new(200)).await,
    }
}

fn envelope(id: &Value, result: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": result})
}

fn echo(params: &Value) -> Value {
    json!({"content": [{"type": "text", "text": params.to_string()}]})
}

/// A stream goes on where its last event says.
async fn resume(exchange: Exchange) {
    let last = exchange.header("last-event-id").unwrap_or_default();
    let Some((id, nonce)) = last.split_once('/') else {
        return exchange.respond(HttpResponse::new(405)).await;
    };
    let number = |text: &str| json!(text.parse::<u64>().expect("a number"));
    let params = json!({"arguments": {"nonce": number(nonce)}});
    let message = envelope(&number(id), &echo(&params));
    let mut stream = exchange.stream(HttpResponse::new(200)).await;
    stream.event(&message).await;
    stream.finish().await;
}

async fn call(exchange: Exchange, seen: &Mutex<Seen>) {
    let (id, params) = (exchange.id().clone(), exchange.params().clone());
    let nonce = params["arguments"]["nonce"].as_u64().expect("a number");
    let tool = params["name"].as_str().expect("a name");
    if !seen.lock().expect("nobody panics").takes(nonce, tool) {
        return exchange.respond(HttpResponse::new(404)).await;
    }
    let answer = envelope(&id, &echo(&params));
    let stranger = envelope(
        &json!(id.as_u64().expect("a number") * 100_000_000),
        &json!({}),
    );
    let json = |body: &str| HttpResponse::new(200).body("application/json", body);
    match tool {
        "event" | "twice" | "strange" => {
            let mut stream = exchange.stream(HttpResponse::new(200)).await;
            stream.keep_alive().await;
            match tool {
                "twice" => stream.event(&answer).await,
                "strange" => {
                    stream.event(&stranger).await;
                    stream
                        .send_raw("data: {\"id\":\n\ndata: hello\n\nevent: ping\ndata: 1\n\n")
                        .await;
                }
                _ => {}
            }
            stream.event(&answer).await;
            stream.finish().await;
        }
        "resumed" => {
            let mut stream = exchange.stream(HttpResponse::new(200)).await;
            stream
                .send_raw(format!("id: {id}/{nonce}\nretry: 5\ndata:\n\n"))
                .await;
        }
        "broken" => drop(exchange.stream(HttpResponse::new(200)).await),
        "refuse" => exchange.error(-32_000, "no", Value::Null).await,
        "cut" => exchange.respond(json("{\"jsonrpc\":\"2.0\",\"id\":")).await,
        "misdirected" => exchange.respond(json(&stranger.to_string())).await,
        "huge" => exchange.respond(json(&" ".repeat(OVERSIZE))).await,
        "unavailable" => exchange.respond(HttpResponse::new(503)).await,
        "accepted" => exchange.accept().await,
        "close" => exchange.close(),
        "mute" => exchange.hang().expect_disconnect().await,
        _ => exchange.result(echo(&params)).await,
    }
}
