//! Listings that overlapping startups of several runtimes share (C0, C1, C2, C6).

use std::time::Duration;

use futures_util::future::join_all;
use mcp_runtime::{ListingShare, McpRuntime, ServerConfig, ServerState};
use mcp_testkit::{Action, Rule, Script, ServerProcess};

use crate::host::{Host, SERVER, at_once, stdio};

/// A server that takes long enough to list for others to arrive in the meantime.
fn listing_slowly() -> ServerProcess {
    let slow = [
        Action::delay(Duration::from_millis(1_500)),
        Action::Standard,
    ];
    let script = Script::new().tool_named("search");
    script.rule(Rule::on("tools/list", slow)).command()
}

/// Runtimes that start at the same time, each with its server: all are ready, and so many listings were fetched.
async fn check(process: &ServerProcess, servers: Vec<ServerConfig>, listings: usize, why: &str) {
    let share = ListingShare::default();
    let count = servers.len();
    let hosts: Vec<_> = servers
        .into_iter()
        .map(|server| {
            let builder = McpRuntime::builder().share_listings(&share);
            Host::begin(builder.server(server))
        })
        .collect();
    at_once(join_all(hosts.iter().map(|host| host.runtime.settled()))).await;
    let mut fetched = 0;
    for host in &hosts {
        let ServerState::Ready { shared, .. } = host.state(SERVER) else {
            panic!("{why}: {:?}", host.state(SERVER))
        };
        fetched += usize::from(!shared);
        assert_eq!(host.call("search").await.unwrap().text(), "search", "{why}");
    }
    let log = process.log();
    assert_eq!(
        (log.count("tools/list"), fetched),
        (listings, listings),
        "{why}"
    );
    assert_eq!(
        log.pids().len(),
        count,
        "{why}: each keeps its own connection"
    );
    // Each call went to the process of its own runtime.
    let mut called: Vec<_> = log
        .entries()
        .iter()
        .filter(|entry| entry["message"]["method"] == "tools/call")
        .map(|entry| entry["pid"].as_u64())
        .collect();
    called.sort_unstable();
    called.dedup();
    assert_eq!(called.len(), count, "{why}");
    join_all(hosts.iter().map(Host::end)).await;
    log.expect_all_gone().await;
}

/// C0, C1
#[tokio::test]
async fn overlapping_startups_of_the_same_server_list_once() {
    let process = listing_slowly();
    let servers = vec![stdio(SERVER, &process); 4];
    check(&process, servers, 1, "the same in every respect").await;
}

/// C5
#[tokio::test]
async fn startups_that_differ_list_each_for_itself() {
    let process = listing_slowly();
    let directory = tempfile::tempdir().unwrap();
    let transport = || crate::host::transport(&process);
    let servers = [
        transport(),
        transport().env("ACCOUNT", "one"),
        transport().env("ACCOUNT", "two"),
        transport().cwd(directory.path()),
    ];
    let name = SERVER.parse().unwrap();
    let server = |transport| ServerConfig::stdio(mcp_runtime::ServerName::clone(&name), transport);
    let servers = servers.map(server).to_vec();
    check(&process, servers, 4, "another environment or place").await;
}

/// C6
#[tokio::test]
async fn a_startup_that_opted_out_lists_for_itself() {
    let process = listing_slowly();
    let alone = || stdio(SERVER, &process).share_listing(false);
    check(
        &process,
        vec![alone(), alone()],
        2,
        "neither gives nor takes",
    )
    .await;
}

/// C2
#[tokio::test]
async fn a_later_startup_lists_again() {
    let process = Script::new().tool_named("search").command();
    let share = ListingShare::default();
    for listings in 1..=2 {
        let builder = McpRuntime::builder().share_listings(&share);
        let host = Host::begin(builder.server(stdio(SERVER, &process)));
        at_once(host.runtime.settled()).await;
        assert_eq!(process.log().count("tools/list"), listings);
        host.end().await;
    }
}
