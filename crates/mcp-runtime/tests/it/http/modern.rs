//! Endpoints of the era without a handshake: 2026-07-28 (R5, C5, C9, B4).

mod era;
mod subscription;

use std::time::Duration;

use mcp_runtime::{
    CallOptions, Era, ErrorCode, ListingShare, RuntimeEvent, ServerConfig, ServerState, SpokenEra,
};
use mcp_testkit::{Exchange, HttpHandle, HttpResponse, ScriptedHttp};
use serde_json::{Value, json};

use super::{OK, at, check, for_request, remote};
use crate::host::{Host, SERVER, at_once, builder, raw};

fn server(url: &str) -> ServerConfig {
    remote(at(url)).era(Era::Modern)
}

/// What an endpoint says of itself that has these capabilities.
fn discovered(capabilities: &Value) -> Value {
    let info = json!({"io.modelcontextprotocol/serverInfo": {"name": "scripted", "version": "1"}});
    json!({
        "resultType": "complete",
        "supportedVersions": ["2026-07-28"],
        "capabilities": capabilities,
        "_meta": info,
    })
}

/// Serves a startup without subscriptions.
async fn serve(host: &Host, server: &mut HttpHandle, tools: &Value) {
    let serving = async {
        let request = server.expect_post("server/discover").await;
        request.result(discovered(&json!({"tools": {}}))).await;
        let request = server.expect_post("tools/list").await;
        request
            .result(json!({"tools": tools, "resultType": "complete"}))
            .await;
    };
    at_once(async { tokio::join!(host.runtime.settled(), serving) }).await;
    let state = host.state(SERVER);
    let modern = matches!(
        state,
        ServerState::Ready {
            era: SpokenEra::Modern,
            ..
        }
    );
    assert!(modern, "{state:?}");
}

async fn ready(tools: &Value) -> (Host, HttpHandle) {
    let (url, mut endpoint) = ScriptedHttp::bind().await;
    let host = Host::serve([server(&url)]);
    serve(&host, &mut endpoint, tools).await;
    (host, endpoint)
}

/// What a request says of itself: method and name in its headers, and the client in its metadata.
#[track_caller]
fn check_request(request: &Exchange, name: Option<&str>) {
    let method = request.message()["method"]
        .as_str()
        .expect("a method")
        .to_owned();
    let expected = [
        ("mcp-protocol-version", Some("2026-07-28")),
        ("mcp-method", Some(method.as_str())),
        ("mcp-name", name),
        ("mcp-session-id", None),
        ("accept", Some("application/json, text/event-stream")),
    ];
    for (header, value) in expected {
        assert_eq!(request.header(header), value, "{header} of {method}");
    }
    let meta = &request.params()["_meta"];
    let said = |name: &str| &meta[format!("io.modelcontextprotocol/{name}")];
    assert_eq!(said("protocolVersion"), "2026-07-28", "{method}");
    assert_eq!(said("clientInfo")["name"], "mcp-runtime", "{method}");
    assert!(said("clientCapabilities").is_object(), "{method}");
}

/// R5, W1
#[tokio::test]
async fn every_request_says_what_it_is_in_its_headers() {
    let (url, mut endpoint) = ScriptedHttp::bind().await;
    let host = Host::serve([server(&url)]);
    let serving = async {
        let request = endpoint.expect_post("server/discover").await;
        check_request(&request, None);
        request.result(discovered(&json!({"tools": {}}))).await;
        let request = endpoint.expect_post("tools/list").await;
        check_request(&request, None);
        let tools = json!({"tools": [{"name": "größe"}], "nextCursor": "2"});
        request.result(tools).await;
        let request = endpoint.expect_post("tools/list").await;
        check_request(&request, None);
        request.result(json!({"tools": [{"name": "t"}]})).await;
    };
    at_once(async { tokio::join!(host.runtime.settled(), serving) }).await;
    for (tool, name) in [("t", "t"), ("größe", "=?base64?Z3LDtsOfZQ==?=")] {
        let serving = async {
            let request = endpoint.expect_post("tools/call").await;
            check_request(&request, Some(name));
            request
                .result(json!({"resultType": "complete", "content": []}))
                .await;
        };
        let (outcome, ()) = tokio::join!(host.call(tool), serving);
        let raw = outcome.expect("a result");
        assert_eq!(raw.raw().get(), r#"{"content":[],"resultType":"complete"}"#);
    }
    host.end().await;
    assert_eq!(
        endpoint.waiting(),
        [""; 0],
        "neither a stream nor a session is there to be ended"
    );
}

/// A tool whose arguments go into headers too.
fn routed() -> Value {
    let schema = json!({"type": "object", "properties": {
        "region": {"type": "string", "x-mcp-header": "Region"},
        "count": {"type": "integer", "x-mcp-header": "Count"},
        "dry": {"type": "boolean", "x-mcp-header": "Dry-Run"},
        "plain": {"type": "string"},
    }});
    json!({"name": "routed", "inputSchema": schema})
}

async fn check_routed(host: &Host, endpoint: &mut HttpHandle) {
    let options = CallOptions::new().arguments(raw(
        r#"{"region":"eu ","count":123456789012345678901,"dry":false,"plain":"x"}"#,
    ));
    let serving = async {
        let request = endpoint.expect_post("tools/call").await;
        check_request(&request, Some("routed"));
        let expected = [
            ("region", Some("=?base64?ZXUg?=")),
            ("count", Some("123456789012345678901")),
            ("dry-run", Some("false")),
            ("plain", None),
        ];
        for (name, value) in expected {
            assert_eq!(
                request.header(&format!("mcp-param-{name}")),
                value,
                "{name}"
            );
        }
        request.result(json!({})).await;
    };
    let (outcome, ()) = tokio::join!(host.call_with("routed", options), serving);
    outcome.expect("a result");
}

/// R5: whoever listed it.
#[tokio::test]
async fn marked_arguments_go_into_headers() {
    let (host, mut endpoint) = ready(&json!([routed()])).await;
    check_routed(&host, &mut endpoint).await;
    host.end().await;

    let (url, mut endpoint) = ScriptedHttp::bind().await;
    let share = ListingShare::default();
    let begin = || Host::begin(builder().share_listings(&share).server(server(&url)));
    let hosts = [begin(), begin()];
    let serving = async {
        for _ in &hosts {
            let request = endpoint.expect_post("server/discover").await;
            request.result(discovered(&json!({"tools": {}}))).await;
        }
        let request = endpoint.expect_post("tools/list").await;
        // The other one joins it meanwhile; one that is late fetches its own.
        endpoint.expect_nothing(Duration::from_millis(50)).await;
        request.result(json!({"tools": [routed()]})).await;
        let settling =
            futures_util::future::join_all(hosts.iter().map(|host| host.runtime.settled()));
        let fetching = async { endpoint.expect_post("tools/list").await };
        tokio::select! {
            _ = settling => {}
            own = fetching => own.result(json!({"tools": [routed()]})).await,
        }
    };
    at_once(serving).await;
    for host in &hosts {
        at_once(host.runtime.settled()).await;
        check_routed(host, &mut endpoint).await;
        host.end().await;
    }
}

/// R5, R8: a mark that cannot be followed would route the call somewhere else.
#[tokio::test]
async fn a_tool_with_a_mark_that_cannot_be_followed_costs_itself() {
    let tool = |name: &str, properties: Value| json!({"name": name, "inputSchema": {"type": "object", "properties": properties}});
    let mark = |kind: &str, header: Value| json!({"type": kind, "x-mcp-header": header});
    let tools = json!([
        tool("good", json!({"a": mark("string", json!("A"))})),
        tool("blank", json!({"a": mark("string", json!("a b"))})),
        tool("empty", json!({"a": mark("string", json!(""))})),
        tool("number", json!({"a": mark("string", json!(7))})),
        tool("object", json!({"a": mark("object", json!("A"))})),
        tool("twice", json!({"a": mark("string", json!("A")), "b": mark("string", json!("a"))})),
        {"name": "nowhere", "inputSchema": {"x-mcp-header": "A"}},
        {"name": "plain"},
    ]);
    let (mut host, _endpoint) = ready(&tools).await;
    assert_eq!(host.tools(), ["good", "plain"]);
    let told = host.told();
    let remarks: Vec<_> = told
        .iter()
        .filter_map(|event| match event {
            RuntimeEvent::Listing { message, .. } => Some(message.as_str()),
            _ => None,
        })
        .collect();
    for name in ["blank", "empty", "number", "object", "twice", "nowhere"] {
        let told = remarks
            .iter()
            .any(|remark| remark.contains(&format!("`{name}` is left out")));
        assert!(told, "{name}: {remarks:?}");
    }
    host.end().await;
}

/// T1: there is no session that a 404 could be about.
#[tokio::test]
async fn a_refusal_is_told_as_what_it_is() {
    let (host, mut endpoint) = ready(&json!([{"name": "t"}])).await;
    let error = |code: i64| {
        format!(r#"{{"jsonrpc":"2.0","id":$id,"error":{{"code":{code},"message":"no such"}}}}"#)
    };
    let rpc = Err((ErrorCode::ProtocolError, "no such"));
    let rows = [
        (404, error(-32_601), rpc),
        (400, error(-32_001), rpc),
        (400, error(-32_004), rpc),
        (
            404,
            String::new(),
            Err((ErrorCode::UnexpectedResponse, "404")),
        ),
        (
            400,
            "no session".to_owned(),
            Err((ErrorCode::UnexpectedResponse, "no session")),
        ),
        (401, error(-32_001), Err((ErrorCode::AuthRequired, "401"))),
    ];
    for (status, body, expected) in rows {
        let serving = async {
            let request = endpoint.expect_post("tools/call").await;
            let body = for_request(&body, &request);
            request
                .respond(HttpResponse::new(status).body("application/json", body))
                .await;
        };
        let (outcome, ()) = tokio::join!(host.call("t"), serving);
        check(outcome, expected, &format!("{status} {body}"));
    }
    assert_eq!(endpoint.waiting(), [""; 0], "nothing is begun again");
    host.end().await;
}

/// B4: in this era, closing the stream is what cancels.
#[tokio::test]
async fn a_call_that_is_given_up_closes_its_stream_and_says_nothing() {
    let (host, mut endpoint) = ready(&json!([{"name": "t"}])).await;
    let impatient = CallOptions::new().timeout(Duration::from_millis(200));
    let serving = async {
        let request = endpoint.expect_post("tools/call").await;
        let mut stream = request.stream(HttpResponse::new(200)).await;
        stream.keep_alive().await;
        stream
    };
    let (outcome, stream) = tokio::join!(host.call_with("t", impatient), serving);
    check(
        outcome,
        Err((ErrorCode::RequestTimeout, "0.2 s")),
        "its time is over",
    );
    at_once(stream.expect_disconnect()).await;

    let held = {
        let call = host.call("t");
        let serving = async { endpoint.expect_post("tools/call").await.hang() };
        tokio::select! {
            outcome = call => panic!("it cannot end: {outcome:?}"),
            held = serving => held,
        }
    };
    at_once(held.expect_disconnect()).await;

    let answer = async {
        let request = endpoint.expect_post("tools/call").await;
        let body = for_request(OK, &request);
        request
            .respond(HttpResponse::new(200).body("application/json", body))
            .await;
    };
    check(
        tokio::join!(host.call("t"), answer).0,
        Ok(()),
        "the next call",
    );
    assert_eq!(endpoint.waiting(), [""; 0], "the endpoint is told nothing");
    host.end().await;
}
