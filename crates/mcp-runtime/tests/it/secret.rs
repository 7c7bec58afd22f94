//! What a configuration keeps to itself (T6).

use mcp_runtime::{HttpTransport, RuntimeEvent, ServerConfig, ServerState};

use crate::host::{Host, SERVER, at_once, text};

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
