//! What a configuration keeps to itself (T6).

mod http;
mod stdio;
mod witness;

use mcp_runtime::{CallOptions, HttpTransport, RuntimeEvent, ServerConfig, ServerState};
use serde_json::json;

use crate::host::{Host, SERVER, at_once, raw, text};
use witness::Secret;

/// A variable of this test's own process, set by cargo: the environment of a running process is not changed. What it
/// says is said nowhere else.
const INHERITED: &str = "CARGO_PKG_DESCRIPTION";
const ARGUMENT: &str = "hush-argument-of-a-call";
const META: &str = "hush-metadata-of-a-call";

fn inherited() -> String {
    std::env::var(INHERITED).expect("cargo sets it for every test")
}

/// A call with secrets.
fn options() -> CallOptions {
    let arguments = raw(&json!({"password": ARGUMENT}).to_string());
    let meta = raw(&json!({"vendor/key": META}).to_string());
    CallOptions::new().arguments(arguments).meta(meta)
}

fn options_secrets() -> Vec<Secret> {
    vec![
        ("the arguments of a call", ARGUMENT.to_owned()),
        ("the metadata of a call", META.to_owned()),
    ]
}

/// A URL's query and user may be credentials; nobody listens at this one.
#[tokio::test]
async fn a_url_is_shown_by_its_origin_alone() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = listener.local_addr().expect("an address").port();
    drop(listener);
    let url = format!("http://hunter2:hunter2@127.0.0.1:{port}/hunter2?key=hunter2");
    let transport = HttpTransport::new(url.parse().expect("a URL"));
    let mut host = Host::serve([ServerConfig::http(
        SERVER.parse().expect("a name"),
        transport,
    )]);
    at_once(host.runtime.settled()).await;
    let error = match host.state(SERVER) {
        ServerState::Failed { error, .. } => Some(error),
        _ => None,
    };
    let told = host.told();
    assert!(
        told.iter()
            .any(|event| matches!(event, RuntimeEvent::Failed { .. }))
    );
    let message = text(&*error.expect("it failed"));
    assert!(
        message.contains("Connection refused"),
        "the reason is told: {message}"
    );
    assert!(
        !message.contains("WorkerTransport"),
        "no library's type is: {message}"
    );
    let shown = format!("{message} {told:?} {:?}", host.runtime);
    assert!(
        shown.contains(&port.to_string()),
        "the origin is told: {shown}"
    );
    assert!(!shown.contains("hunter2"), "{shown}");
}
