//! Servers behind an HTTP endpoint (R2, R4, R9, B3, B4).

mod answer;
mod body;
mod doubt;
mod elicitation;
mod goodbye;
mod handshake;
mod header;
mod modern;
mod notice;
mod redirect;
mod resource;
mod session;
mod sse;
mod status;
mod unasked;

use mcp_runtime::{
    CallError, Era, ErrorCode, HttpTransport, McpRuntimeBuilder, ServerConfig, ServerState,
    ToolOutput,
};
use mcp_testkit::{Exchange, Handshake, HttpHandle, ScriptedHttp};
use serde_json::{Value, json};

use crate::host::{Host, SERVER, at_once, builder, text};

/// The session that the endpoint gives.
const SESSION: &str = "session-1";

/// A server at a URL, spoken to in the legacy era, without a probe for another.
pub(crate) fn remote(transport: HttpTransport) -> ServerConfig {
    ServerConfig::http(SERVER.parse().expect("a server name"), transport).era(Era::Legacy)
}

/// The way to a URL.
pub(crate) fn at(url: &str) -> HttpTransport {
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
    let host = Host::begin(host(builder().server(remote(at(&url)))));
    serve(&host, &mut server, Some(SESSION), tools).await;
    (host, server)
}

/// As [`ready`], from an endpoint that has no sessions.
async fn ready_without_session(tools: &[&str]) -> (Host, HttpHandle) {
    let (url, mut server) = ScriptedHttp::bind().await;
    let host = Host::serve([remote(at(&url))]);
    serve(&host, &mut server, None, tools).await;
    (host, server)
}

/// Serves a startup to its end.
pub(crate) async fn serve(
    host: &Host,
    server: &mut HttpHandle,
    session: Option<&str>,
    tools: &[&str],
) {
    let serving = async {
        server.initialize(Handshake::new(), session).await;
        server
            .expect_post("tools/list")
            .await
            .result(listing(tools))
            .await;
    };
    at_once(async { tokio::join!(host.runtime.settled(), serving) }).await;
    let state = host.state(SERVER);
    assert!(matches!(state, ServerState::Ready { .. }), "{state:?}");
}

/// One call of the tool `t`, answered like this.
async fn called<F: Future<Output = ()>>(
    host: &Host,
    server: &mut HttpHandle,
    answer: impl FnOnce(Exchange) -> F,
) -> Result<ToolOutput, CallError> {
    let answering = async { answer(server.expect_post("tools/call").await).await };
    tokio::join!(host.call("t"), answering).0
}

/// A call of the tool `t` that is answered as it should be.
async fn check_alive(host: &Host, server: &mut HttpHandle, reason: &str) {
    let answer = async |request: Exchange| request.result(json!({"alive": true})).await;
    let output = called(host, server, answer).await;
    let output = output.unwrap_or_else(|error| panic!("after {reason}: {}", text(&error)));
    assert_eq!(output.raw().get(), r#"{"alive":true}"#, "after {reason}");
}

/// The call came to this: a result that is `ok`, or a failure with this code and these words.
#[track_caller]
fn check(outcome: Result<ToolOutput, CallError>, expected: Expected, reason: &str) {
    match (outcome, expected) {
        (Ok(output), Ok(())) => assert_eq!(output.text(), "ok", "{reason}"),
        (Ok(output), Err(_)) => panic!("{reason}: {:?}", output.raw()),
        (Err(error), Ok(())) => panic!("{reason}: {}", text(&error)),
        (Err(error), Err((code, says))) => {
            let message = text(&error);
            assert_eq!(error.code(), code, "{reason}: {message}");
            assert!(
                message.contains(says),
                "{reason}: {says:?} is not said: {message}"
            );
        }
    }
}

type Expected = Result<(), (ErrorCode, &'static str)>;

/// A result that is `ok`, as an answer to `$id`.
const OK: &str = r#"{"jsonrpc":"2.0","id":$id,"result":{"content":[{"type":"text","text":"ok"}]}}"#;

/// The text for a request, with its id for `$id`.
fn for_request(text: &str, request: &Exchange) -> String {
    text.replace("$id", &request.id().to_string())
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
