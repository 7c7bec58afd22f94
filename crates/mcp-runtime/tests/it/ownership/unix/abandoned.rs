//! Hosts that are let go, at every stage of a startup and in every order with their executor.

use std::thread;

use mcp_runtime::{Era, McpRuntime, ServerConfig};
use mcp_testkit::{Action, Rule, Script, ServerLog};
use serde_json::Value;
use tokio::runtime::Runtime;

use super::alone::alone;
use super::census::{Census, children};
use super::small_server;
use crate::host::{Host, SERVER, at_once, logged, transport};

/// How far a server has come when its host goes.
struct Stage {
    why: &'static str,
    script: Script,
    era: Era,
    /// That far.
    is_reached: fn(&ServerLog) -> bool,
}

const GRANDCHILD: Action = Action::SpawnGrandchild {
    own_group: false,
    holds_output: true,
};

/// A server that ignores everything and leaves a grandchild.
fn stubborn() -> Script {
    let steps = [Action::IgnoreSigterm, GRANDCHILD];
    Script::new().ignores_end().rule(Rule::at_start(steps))
}

fn stages() -> Vec<Stage> {
    let refusal = || Action::Error {
        code: -32_601,
        message: "Method not found".to_owned(),
        data: Value::Null,
    };
    let refuses = || Rule::on("initialize", [refusal()]);
    // The first process follows, so that the second one comes soon.
    let second = Script::new()
        .rule(Rule::at_start([Action::IgnoreSigterm, GRANDCHILD]).in_process(2))
        .rule(Rule::at_end([]).in_process(2));
    let legacy = |why, script, is_reached| Stage {
        why,
        script,
        era: Era::Legacy,
        is_reached,
    };
    let auto = |why, script, is_reached| Stage {
        era: Era::Auto,
        ..legacy(why, script, is_reached)
    };
    vec![
        legacy(
            "in the middle of the handshake",
            stubborn().rule(Rule::on("initialize", [])),
            |log| log.count("initialize") == 1,
        ),
        legacy(
            "in the middle of the listing",
            stubborn().rule(Rule::on("tools/list", [])),
            |log| log.count("tools/list") == 1,
        ),
        legacy("ready", stubborn(), |log| log.count("tools/list") == 1),
        auto(
            "before it is started for the other era",
            stubborn().rule(refuses()),
            |log| !log.events("end").is_empty(),
        ),
        auto(
            "in the handshake of the other era",
            second.rule(refuses()).rule(Rule::on("server/discover", [])),
            |log| log.count("server/discover") == 1,
        ),
    ]
}

/// Starts a host for each stage, each on a tokio runtime of its own, lets it go in some way, and nothing survives.
fn check(let_go: impl Fn(Runtime, Host) + Sync) {
    let at = |stage: Stage| {
        let process = stage.script.command();
        let server = ServerConfig::stdio(SERVER.parse().unwrap(), transport(&process));
        let tokio = Runtime::new().unwrap();
        let host = tokio.block_on(async {
            let host = Host::serve([server.era(stage.era)]);
            logged(&process.log(), stage.is_reached).await;
            host
        });
        assert_eq!(process.log().alive().len(), 2, "{}", stage.why);
        let_go(tokio, host);
        let tokio = Runtime::new().unwrap();
        tokio.block_on(process.log().expect_all_gone());
    };
    thread::scope(|scope| {
        for stage in stages() {
            scope.spawn(|| at(stage));
        }
    });
}

/// R6
#[test]
fn nothing_survives_a_host_that_is_dropped() {
    check(|tokio, host| {
        tokio.block_on(async { drop(host) });
        // The executor lives on: it is what ends the processes in stages.
        thread::spawn(move || tokio.block_on(std::future::pending::<()>()));
    });
}

/// R6
#[test]
fn nothing_survives_a_host_that_is_dropped_on_a_plain_thread() {
    check(|tokio, host| {
        thread::spawn(move || drop(host)).join().unwrap();
        thread::spawn(move || tokio.block_on(std::future::pending::<()>()));
    });
}

/// R6
#[test]
fn nothing_survives_an_executor_that_goes_first() {
    check(|tokio, host| {
        drop(tokio);
        thread::spawn(move || drop(host)).join().unwrap();
    });
}

/// R6
#[test]
fn nothing_survives_an_executor_that_is_abandoned_after_the_host() {
    check(|tokio, host| {
        drop(host);
        tokio.shutdown_background();
    });
}

/// R11
#[test]
fn nothing_survives_a_shutdown() {
    check(|tokio, host| {
        tokio.block_on(host.end());
    });
}

/// Begins to start servers and goes on for `turns` of the executor: some are being started then, others shake hands.
async fn begun(turns: usize) -> Host {
    let servers = (0..3).map(|number| small_server(&format!("{SERVER}-{number}")));
    let host = Host::serve(servers);
    for _ in 0..turns {
        tokio::task::yield_now().await;
    }
    host
}

/// R6: in the middle of the start of a process too, wherever that is.
#[test]
fn nothing_survives_a_startup_that_is_given_up_at_any_moment() {
    const TEST: &str =
        "ownership::unix::abandoned::nothing_survives_a_startup_that_is_given_up_at_any_moment";
    alone(TEST, || {
        let outer = Runtime::new().unwrap();
        let before = Census::take();
        let tokio = Runtime::new().unwrap();
        for turn in 0..60 {
            tokio.block_on(async {
                let host = begun(turn * turn).await;
                at_once(host.runtime.shutdown(McpRuntime::DEFAULT_SHUTDOWN_TIMEOUT)).await;
                assert_eq!(children(), [0; 0], "a shutdown waits for a start, too");
            });
        }
        for turn in 0..60 {
            tokio.block_on(async { drop(begun(turn * turn).await) });
            let inner = Runtime::new().unwrap();
            let host = inner.block_on(begun(turn * turn));
            drop(inner);
            drop(host);
        }
        drop(tokio);
        outer.block_on(before.expect_again());
    });
}
