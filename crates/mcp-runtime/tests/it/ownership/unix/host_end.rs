//! Hosts that end without having ended their servers.

use std::env;
use std::thread;

use mcp_runtime::{Era, ServerConfig, StdioTransport};
use mcp_testkit::{Rule, Script, ServerProcess};
use tokio::runtime::Runtime;

use super::alone::{is_alone, start_again};
use crate::host::{Host, SERVER, at_once, stdio};

/// The servers of a host that is started for one test: a program and arguments each, as JSON.
const SERVERS: &str = "MCP_RUNTIME_TEST_SERVERS";

fn described(processes: &[&ServerProcess]) -> String {
    let described = processes.iter().map(|process| {
        let text = |path: &std::ffi::OsStr| path.to_str().expect("test paths are text").to_owned();
        let mut words = vec![text(process.program().as_os_str())];
        words.extend(process.args().iter().map(|arg| text(arg)));
        words
    });
    serde_json::to_string(&described.collect::<Vec<_>>()).unwrap()
}

/// The host: starts its servers and goes on for ever.
async fn serve() {
    let described: Vec<Vec<String>> = serde_json::from_str(&env::var(SERVERS).unwrap()).unwrap();
    let servers = described.into_iter().enumerate().map(|(number, words)| {
        let mut words = words.into_iter();
        let transport = StdioTransport::new(words.next().unwrap()).args(words);
        let name = format!("{SERVER}-{number}").parse().unwrap();
        ServerConfig::stdio(name, transport).era(Era::Legacy)
    });
    let _host = Host::serve(servers);
    std::future::pending::<()>().await;
}

/// R6: nothing of a host that is killed can do anything for its servers, and these ignore that their input has ended.
#[test]
fn a_host_that_is_killed_takes_its_servers_along() {
    const TEST: &str = "ownership::unix::host_end::a_host_that_is_killed_takes_its_servers_along";
    let tokio = Runtime::new().unwrap();
    if is_alone(TEST) {
        return tokio.block_on(serve());
    }
    let stubborn = || Script::new().ignores_sigterm().ignores_end();
    let ready = stubborn().command();
    let starting = stubborn().rule(Rule::on("initialize", [])).command();
    let mut host = start_again(TEST, (SERVERS, &described(&[&ready, &starting])));
    tokio.block_on(async {
        ready.log().expect("tools/list", 1).await;
        starting.log().expect("initialize", 1).await;
        assert_eq!(ready.log().alive().len() + starting.log().alive().len(), 2);
        host.kill().unwrap();
        ready.log().expect_all_gone().await;
        starting.log().expect_all_gone().await;
    });
    host.wait().unwrap();
}

/// R6: a server is to die with its host, not with the thread on which the host has begun.
#[test]
fn a_thread_that_ends_takes_no_server_along() {
    let process = Script::new().tool_named("search").command();
    let server = stdio(SERVER, &process);
    let begun = thread::spawn(move || {
        // Its worker threads are others, and one that blocks is one more.
        let tokio = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        let tokio = tokio.unwrap();
        let host = tokio.block_on(Host::ready(server));
        (tokio, host)
    });
    let (tokio, host) = begun.join().unwrap();
    tokio.block_on(async {
        assert_eq!(host.call("search").await.unwrap().text(), "search");
        host.end().await;
    });
}

/// R6
#[test]
fn a_host_that_panics_leaves_nothing() {
    let process = Script::new().ignores_sigterm().ignores_end().command();
    let server = stdio(SERVER, &process);
    let panics = thread::spawn(move || {
        let tokio = Runtime::new().unwrap();
        tokio.block_on(async {
            let host = Host::ready(server).await;
            panic!("the host is broken: {:?}", host.tools());
        });
    });
    panics.join().unwrap_err();
    let tokio = Runtime::new().unwrap();
    tokio.block_on(at_once(process.log().expect_all_gone()));
}
