//! What was found out once is not asked again (R5).

use std::time::Duration;

use mcp_runtime::{
    Era, ListingShare, McpRuntimeBuilder, ReconnectPolicy, RuntimeEvent, ServerConfig, SpokenEra,
};
use mcp_testkit::{Action, Handshake, Rule, Script, ScriptedHttp, ServerProcess};
use serde_json::Value;

use super::{discovered, modern, not_found, server, tools};
use crate::host::{Host, SERVER, at_once, builder, transport};

fn quick() -> McpRuntimeBuilder {
    let policy = ReconnectPolicy::new().first_pause(Duration::from_millis(10));
    builder().reconnect(policy)
}

async fn start(builder: McpRuntimeBuilder, server: ServerConfig) -> Host {
    Host::begin(builder.server(server)).settled().await
}

/// Ends the server's process by calling `die`; the era in which it is back.
async fn dies(host: &mut Host) -> Option<SpokenEra> {
    host.told();
    host.call("die").await.expect_err("nobody answers");
    let back = |event: &RuntimeEvent| matches!(event, RuntimeEvent::Reconnected { .. });
    let told = host.await_event(back).await;
    // Reconnecting is told once it is done, and not how.
    assert_eq!(told.len(), 2, "{told:?}");
    told.iter().find_map(|event| match event {
        RuntimeEvent::Reconnected { era, .. } => Some(*era),
        _ => None,
    })
}

fn asked(process: &ServerProcess) -> (usize, usize) {
    let log = process.log();
    (log.count("initialize"), log.count("server/discover"))
}

fn mortal(script: Script) -> Script {
    script
        .tool_named("die")
        .rule(Rule::on_tool("die", [Action::Exit(3)]))
}

/// R5: the first start asks twice, and no later one.
#[tokio::test]
async fn a_modern_process_that_is_connected_again_is_asked_for_its_era_at_once() {
    let process = mortal(modern(not_found())).command();
    let mut host = start(quick(), server(&process, Era::Auto)).await;
    assert_eq!(asked(&process), (1, 1));
    for round in 2..=3 {
        assert_eq!(dies(&mut host).await, Some(SpokenEra::Modern));
        assert_eq!(asked(&process), (1, round));
    }
    host.end().await;
    process.log().expect_all_gone().await;
}

/// R5: a server that has become another is asked for the other era again, and that is remembered too.
#[tokio::test]
async fn a_remembered_era_that_fails_is_no_longer_insisted_on() {
    let script = Script::new()
        .rule(Rule::on("initialize", [not_found()]).in_process(1))
        .rule(Rule::on("server/discover", [Action::Result(discovered())]).in_process(2));
    let process = mortal(script).command();
    let mut host = start(quick(), server(&process, Era::Auto)).await;
    assert_eq!(asked(&process), (1, 1), "it was modern");
    assert_eq!(dies(&mut host).await, Some(SpokenEra::Legacy));
    assert_eq!(asked(&process), (2, 2), "modern first, then legacy");
    assert_eq!(dies(&mut host).await, Some(SpokenEra::Legacy));
    assert_eq!(asked(&process), (3, 2), "legacy at once");
    host.end().await;
    process.log().expect_all_gone().await;
}

/// R5: what counts is what is launched, in whichever runtime that shares, under whatever name.
#[tokio::test]
async fn an_era_is_known_to_every_runtime_that_shares() {
    let process = modern(not_found()).command();
    let share = ListingShare::default();
    let with = |name: &str, argument: Option<&str>, share: &ListingShare| {
        let transport = match argument {
            Some(value) => transport(&process).env("LEVEL", value),
            None => transport(&process),
        };
        let server = ServerConfig::stdio(name.parse().expect("a server name"), transport);
        start(builder().share_listings(share), server)
    };
    let other = ListingShare::default();
    for (name, argument, share, expected, why) in [
        (SERVER, None, &share, (1, 1), "nobody knows it"),
        (SERVER, None, &share, (1, 2), "another runtime"),
        ("other", None, &share, (1, 3), "another name"),
        (SERVER, Some("1"), &share, (2, 4), "another launch"),
        (
            SERVER,
            None,
            &other,
            (3, 5),
            "a runtime that does not share",
        ),
    ] {
        let host = with(name, argument, share).await;
        assert_eq!(asked(&process), expected, "{why}");
        host.end().await;
    }
    process.log().expect_all_gone().await;
}

/// R5: of endpoints as well.
#[tokio::test]
async fn a_legacy_endpoint_is_asked_for_its_era_at_once() {
    let (url, mut endpoint) = ScriptedHttp::bind().await;
    let share = ListingShare::default();
    for round in 1..=2 {
        let transport = mcp_runtime::HttpTransport::new(url.parse().expect("a URL"));
        let server = ServerConfig::http(SERVER.parse().expect("a server name"), transport);
        let starting = start(builder().share_listings(&share), server);
        let serving = async {
            if round == 1 {
                let first = endpoint.expect_post("server/discover").await;
                first.error(-32_601, "Method not found", Value::Null).await;
            }
            endpoint.initialize(Handshake::new(), None).await;
            let listing = endpoint.expect_post("tools/list").await;
            listing.result(tools()).await;
        };
        let (host, ()) = at_once(async { tokio::join!(starting, serving) }).await;
        host.end().await;
    }
}
