//! Servers behind an HTTP endpoint (R2, R4, R9, B3, B4).

mod answer;
mod elicitation;
mod handshake;
mod resource;

use mcp_runtime::{Era, HttpTransport, McpRuntime, McpRuntimeBuilder, ServerConfig, ServerState};
use mcp_testkit::{Handshake, HttpHandle, ScriptedHttp};
use serde_json::{Value, json};

use crate::host::{Host, SERVER, at_once};

/// The session that the endpoint gives.
const SESSION: &str = "session-1";

/// A server at a URL, spoken to in the legacy era, without a probe for another.
fn remote(transport: HttpTransport) -> ServerConfig {
    ServerConfig::http(SERVER.parse().expect("a server name"), transport).era(Era::Legacy)
}

/// The way to a URL.
fn at(url: &str) -> HttpTransport {
    HttpTransport::new(url.parse().expect("a URL"))
}

/// A ready host, and the endpoint behind it that lists these tools.
async fn ready(tools: &[&str]) -> (Host, HttpHandle) {
    ready_with(|builder| builder, tools).await
}

/// As [`ready`], with a host that wants something of its own.
async fn ready_with(
    host: impl FnOnce(McpRuntimeBuilder) -> McpRuntimeBuilder,
    tools: &[&str],
) -> (Host, HttpHandle) {
    let (url, mut server) = ScriptedHttp::bind().await;
    let host = Host::begin(host(McpRuntime::builder().server(remote(at(&url)))));
    let serving = async {
        server.initialize(Handshake::new(), Some(SESSION)).await;
        server
            .expect_post("tools/list")
            .await
            .result(listing(tools))
            .await;
    };
    at_once(async { tokio::join!(host.runtime.settled(), serving) }).await;
    let state = host.state(SERVER);
    assert!(matches!(state, ServerState::Ready { .. }), "{state:?}");
    (host, server)
}

/// Shuts down, with an endpoint that lets its session go.
async fn end(host: &Host, mut server: HttpHandle) {
    let farewell = async { server.expect_delete().await.accept().await };
    tokio::join!(host.end(), farewell);
}

fn listing(tools: &[&str]) -> Value {
    let tools: Vec<_> = tools.iter().map(|name| json!({"name": name})).collect();
    json!({"tools": tools})
}
