//! Startups, their listings, and sessions.

use mcp_runtime::{
    ListingShare, McpRuntime, ReconnectPolicy, RuntimeEvent, ServerConfig, StdioTransport,
};
use mcp_testkit::{Action, ExportedTelemetry, Rule, Script};
use serde_json::json;

use super::{Watched, watched};
use crate::host::{Host, SERVER, at_once, stdio, with_tool};

const STARTUP: &str = "mcp.client.startup.duration";
const SESSION: &str = "mcp.client.session.duration";

/// T2, T4, T5
#[tokio::test]
async fn a_server_that_starts_has_a_startup_a_listing_and_a_session() {
    let watched = Watched::play(&Script::new().tool_named("t")).await;
    let server = format!("mcp.server.name={SERVER} network.transport=pipe");
    let version = "mcp.protocol.version=2025-11-25";
    assert_eq!(
        watched.exported.span_lines(),
        [
            format!("tools/list Client unset mcp.method.name=tools/list {server}"),
            format!("mcp.client.startup Internal unset mcp.listing=fetched {version} {server}"),
        ]
    );
    let spans = watched.exported.spans();
    assert_eq!(spans[0].parent_span_id, spans[1].span_context.span_id());
    let started = format!("1 mcp.listing=fetched {server}");
    assert_eq!(watched.exported.points(STARTUP), [started]);
    let led = format!("1 mcp.listing.join=led mcp.server.name={SERVER}");
    assert_eq!(watched.exported.points("mcp.client.listing.joins"), [led]);
    let listed = format!("1 mcp.method.name=tools/list {server}");
    assert_eq!(
        watched.exported.points("mcp.client.operation.duration"),
        [listed]
    );
    assert!(watched.exported.points(SESSION).is_empty(), "it goes on");
    watched.host.end().await;
    let ended = async {
        while watched.exported.points(SESSION).is_empty() {
            tokio::task::yield_now().await;
        }
    };
    at_once(ended).await;
    let session = format!("1 {version} {server}");
    assert_eq!(watched.exported.points(SESSION), [session], "and no error");
}

/// T1
#[tokio::test]
async fn a_server_that_does_not_start_is_recorded_with_the_reason() {
    let exported = ExportedTelemetry::begin();
    let exits = Script::new()
        .rule(Rule::at_start([Action::Exit(3)]))
        .command();
    let refuses = Action::Error {
        code: -32_603,
        message: "no".into(),
        data: serde_json::Value::Null,
    };
    let refuses = Script::new()
        .rule(Rule::on("tools/list", [refuses]))
        .command();
    let nowhere = StdioTransport::new("/nonexistent/server");
    let nowhere = ServerConfig::stdio("nowhere".parse().unwrap(), nowhere);
    let builder = watched(&exported).reconnect(ReconnectPolicy::never());
    let servers = [stdio("exits", &exits), stdio("refuses", &refuses), nowhere];
    let host = Host::begin(builder.servers(servers));
    at_once(host.runtime.settled()).await;
    let failed = |code, server| {
        format!(
            "mcp.client.startup Internal error error.type={code} mcp.error.code={code} mcp.server.name={server} network.transport=pipe"
        )
    };
    let mut spans = exported.span_lines();
    spans.sort();
    assert_eq!(
        spans,
        [
            failed("protocol_error", "refuses"),
            failed("startup_failed", "exits"),
            failed("startup_failed", "nowhere"),
            "tools/list Client error error.type=protocol_error mcp.error.code=protocol_error mcp.method.name=tools/list mcp.server.name=refuses network.transport=pipe rpc.response.status_code=-32603".to_owned(),
        ]
    );
    assert_eq!(exported.points(STARTUP).len(), 3);
    assert!(exported.points(SESSION).is_empty());
    host.end().await;
    assert_eq!(exported.points(STARTUP).len(), 3, "once each");
}

/// T4: the end of the runtime is no failure of the server's.
#[tokio::test]
async fn a_startup_that_nobody_wants_any_more_was_cancelled() {
    let exported = ExportedTelemetry::begin();
    let mute = Script::new().rule(Rule::on("initialize", [])).command();
    let host = Host::begin(watched(&exported).server(stdio(SERVER, &mute)));
    at_once(mute.log().expect("initialize", 1)).await;
    host.end().await;
    let server = format!("mcp.server.name={SERVER} network.transport=pipe");
    assert_eq!(
        exported.points(STARTUP),
        [format!("1 error.type=cancelled {server}")]
    );
}

/// R10: a session that is lost is recorded as that, and the next startup as one more.
#[tokio::test]
async fn a_lost_session_and_the_next_startup_are_recorded() {
    let exported = ExportedTelemetry::begin();
    let process = with_tool(Script::new(), "die", [Action::Exit(1)]).command();
    let mut host = Host::begin(watched(&exported).server(stdio(SERVER, &process)));
    at_once(host.runtime.settled()).await;
    host.call("die").await.expect_err("it is gone");
    host.await_event(|event| matches!(event, RuntimeEvent::Reconnected { .. }))
        .await;
    let server = format!("mcp.server.name={SERVER} network.transport=pipe");
    let lost = format!("1 error.type=transport_closed mcp.protocol.version=2025-11-25 {server}");
    assert_eq!(exported.points(SESSION), [lost]);
    assert_eq!(
        exported.points(STARTUP),
        [format!("2 mcp.listing=fetched {server}")]
    );
    host.end().await;
}

/// C1, C6: how startups came by their listing.
#[tokio::test]
async fn a_shared_listing_is_counted_as_one_for_each_startup() {
    let exported = ExportedTelemetry::begin();
    let listed = json!({"tools": [{"name": "t"}]});
    let script = Script::new().rule(Rule::on(
        "tools/list",
        [Action::DelayMs(500), Action::Result(listed)],
    ));
    let process = script.command();
    let share = ListingShare::default();
    let begin = || {
        let builder = watched(&exported).share_listings(&share);
        Host::begin(builder.server(stdio(SERVER, &process)))
    };
    let hosts: [Host; 2] = [begin(), begin()];
    for host in &hosts {
        at_once(host.runtime.settled()).await;
    }
    let joined = |how| format!("1 mcp.listing.join={how} mcp.server.name={SERVER}");
    assert_eq!(
        exported.points("mcp.client.listing.joins"),
        [joined("led"), joined("shared")]
    );
    let alone = stdio("alone", &process).share_listing(false);
    let alone = Host::begin(watched(&exported).server(alone))
        .settled()
        .await;
    assert!(
        exported
            .points("mcp.client.listing.joins")
            .contains(&"1 mcp.listing.join=opted_out mcp.server.name=alone".to_owned())
    );
    for host in hosts.iter().chain([&alone]) {
        host.runtime
            .shutdown(McpRuntime::DEFAULT_SHUTDOWN_TIMEOUT)
            .await;
    }
}
