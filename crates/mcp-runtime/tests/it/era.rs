//! Which era a server speaks, found out by asking (R5).

mod memory;

use mcp_runtime::{Era, HttpTransport, RuntimeEvent, ServerConfig, ServerState, SpokenEra};
use mcp_testkit::{Action, Exchange, Handshake, Rule, Script, ScriptedHttp, ServerProcess};
use serde_json::{Value, json};

use crate::host::{Host, SERVER, at_once, text, transport};

/// What a server of the modern era says of itself.
fn discovered() -> Value {
    json!({"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, "ttlMs": 0, "cacheScope": "private"})
}

/// A server of the modern era that does this when it is asked for the legacy one.
fn modern(asked_for_legacy: Action) -> Script {
    Script::new()
        .tool_named("search")
        .rule(Rule::on("initialize", [asked_for_legacy]))
        .rule(Rule::on("server/discover", [Action::Result(discovered())]))
}

fn not_found() -> Action {
    Action::Error {
        code: -32_601,
        message: "Method not found".to_owned(),
        data: Value::Null,
    }
}

fn server(process: &ServerProcess, era: Era) -> ServerConfig {
    ServerConfig::stdio(SERVER.parse().expect("a server name"), transport(process)).era(era)
}

/// Starts the script; the era spoken, and the eras tried again.
async fn check(
    script: &Script,
    era: Era,
) -> (Option<SpokenEra>, Vec<SpokenEra>, ServerProcess, Host) {
    let process = script.command();
    let mut host = Host::serve([server(&process, era)]);
    at_once(host.runtime.settled()).await;
    let spoken = match host.state(SERVER) {
        ServerState::Ready { era, .. } => Some(era),
        _ => None,
    };
    let retried = host.told().into_iter().filter_map(|event| match event {
        RuntimeEvent::Retrying { era, .. } => Some(era),
        _ => None,
    });
    let retried = retried.collect();
    (spoken, retried, process, host)
}

/// R5, R3: a server that names its versions has understood, and says more than one that refuses.
#[tokio::test]
async fn a_server_of_another_era_says_which_versions_it_speaks() {
    let versions = json!({"supportedVersions": ["2099-02-02"], "capabilities": {}});
    let script = Script::new()
        .rule(Rule::on("initialize", [not_found()]))
        .rule(Rule::on("server/discover", [Action::Result(versions)]));
    let (spoken, _retried, _process, host) = check(&script, Era::Auto).await;
    assert_eq!(spoken, None);
    let ServerState::Failed { error, .. } = host.state(SERVER) else {
        panic!("it has started")
    };
    let message = text(&error);
    assert!(message.contains("`2099-02-02`"), "{message}");
    host.end().await;
}

/// R5
#[tokio::test]
async fn a_legacy_process_is_asked_once() {
    let (spoken, retried, process, host) = check(&Script::new(), Era::Auto).await;
    assert_eq!((spoken, retried), (Some(SpokenEra::Legacy), vec![]));
    assert_eq!(process.log().count("server/discover"), 0);
    host.end().await;
}

/// R5: whatever a modern process does when it is asked for the legacy era, it is started once more, alone.
#[tokio::test]
async fn a_modern_process_is_started_once_more_after_the_first_is_gone() {
    for refusal in [not_found(), Action::Exit(3)] {
        let (spoken, retried, process, host) = check(&modern(refusal.clone()), Era::Auto).await;
        assert_eq!(spoken, Some(SpokenEra::Modern), "{refusal:?}");
        assert_eq!(retried, [SpokenEra::Modern], "{refusal:?}");
        assert_eq!(process.log().pids().len(), 2, "{refusal:?}");
        assert_eq!(process.log().alive().len(), 1, "{refusal:?}");
        assert!(host.call("search").await.is_ok(), "{refusal:?}");
        host.end().await;
        process.log().expect_all_gone().await;
    }
}

/// R5
#[tokio::test]
async fn a_configured_era_is_the_only_one_asked_for() {
    let (spoken, retried, process, host) = check(&modern(not_found()), Era::Legacy).await;
    assert_eq!((spoken, retried), (None, vec![]));
    assert_eq!(process.log().count("server/discover"), 0);
    host.end().await;

    let (spoken, retried, process, host) = check(&modern(not_found()), Era::Modern).await;
    assert_eq!((spoken, retried), (Some(SpokenEra::Modern), vec![]));
    assert_eq!(process.log().count("initialize"), 0);
    host.end().await;
}

/// W1: in the modern era every request says what the client is; a caller cannot say it otherwise (S6).
#[tokio::test]
async fn a_modern_request_carries_the_client() {
    let (_, _, process, host) = check(&modern(not_found()), Era::Modern).await;
    let forged = r#"{"io.modelcontextprotocol/protocolVersion":"1999-01-01","kept":1}"#;
    let options = mcp_runtime::CallOptions::new().meta(crate::host::raw(forged));
    host.call_with("search", options).await.expect("a result");
    let messages = process.log().messages();
    let of = |method: &str| {
        messages
            .iter()
            .find(|message| message["method"] == method)
            .map(|message| &message["params"]["_meta"])
    };
    for method in ["server/discover", "tools/list", "tools/call"] {
        let meta = of(method).expect("it was sent");
        assert_eq!(
            meta["io.modelcontextprotocol/protocolVersion"], "2026-07-28",
            "{method}"
        );
        assert_eq!(
            meta["io.modelcontextprotocol/clientInfo"]["name"], "mcp-runtime",
            "{method}"
        );
        assert!(
            meta["io.modelcontextprotocol/clientCapabilities"].is_object(),
            "{method}"
        );
    }
    assert_eq!(of("tools/call").expect("it was sent")["kept"], 1);
    host.end().await;
}

/// R5: nearly every process speaks the legacy era, so its answer in that one is what helps.
#[tokio::test]
async fn a_process_that_speaks_neither_fails_with_what_it_said_first() {
    let refusal = Action::Error {
        code: -32_602,
        message: "licence expired".to_owned(),
        data: Value::Null,
    };
    let (spoken, retried, process, host) = check(
        &Script::new().rule(Rule::on("initialize", [refusal])),
        Era::Auto,
    )
    .await;
    assert_eq!((spoken, retried), (None, vec![SpokenEra::Modern]));
    let error = match host.state(SERVER) {
        ServerState::Failed { error, .. } => Some(error),
        _ => None,
    };
    let error = error.expect("it failed");
    assert!(
        text(&*error).contains("licence expired"),
        "{}",
        text(&*error)
    );
    host.end().await;
    process.log().expect_all_gone().await;
}

/// A host with one endpoint that answers its first request like this; what the endpoint is asked next.
async fn endpoint(answer: impl AsyncFnOnce(Exchange)) -> (Host, mcp_testkit::HttpHandle) {
    let (url, mut endpoint) = ScriptedHttp::bind().await;
    let transport = HttpTransport::new(url.parse().expect("a URL"));
    let host = Host::serve([ServerConfig::http(
        SERVER.parse().expect("a server name"),
        transport,
    )]);
    let first = at_once(endpoint.expect_post("server/discover")).await;
    answer(first).await;
    (host, endpoint)
}

fn tools() -> Value {
    json!({"resultType": "complete", "tools": [{"name": "search", "inputSchema": {"type": "object"}}], "ttlMs": 0, "cacheScope": "private"})
}

/// R5
#[tokio::test]
async fn a_modern_endpoint_is_asked_once() {
    let (host, mut endpoint) = endpoint(async |first| first.result(discovered()).await).await;
    at_once(endpoint.expect_post("tools/list"))
        .await
        .result(tools())
        .await;
    at_once(host.runtime.settled()).await;
    let state = host.state(SERVER);
    assert!(
        matches!(
            state,
            ServerState::Ready {
                era: SpokenEra::Modern,
                tools: 1,
                ..
            }
        ),
        "{state:?}"
    );
    host.end().await;
}

/// R5
#[tokio::test]
async fn a_legacy_endpoint_is_asked_again() {
    let refuse =
        async |first: Exchange| first.error(-32_601, "Method not found", Value::Null).await;
    let (host, mut endpoint) = endpoint(refuse).await;
    at_once(async {
        endpoint.initialize(Handshake::new(), None).await;
        endpoint
            .expect_post("tools/list")
            .await
            .result(tools())
            .await;
        host.runtime.settled().await;
    })
    .await;
    let state = host.state(SERVER);
    assert!(
        matches!(
            state,
            ServerState::Ready {
                era: SpokenEra::Legacy,
                tools: 1,
                ..
            }
        ),
        "{state:?}"
    );
    host.end().await;
}
