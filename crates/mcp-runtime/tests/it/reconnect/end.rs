//! Ends of a host whose server is away (R6, R11).

use std::time::Duration;

use mcp_runtime::{McpRuntimeBuilder, RuntimeEvent};
use mcp_testkit::{Rule, ServerLog, ServerProcess};
use tokio::time::Instant;

use super::{die, disconnected, mortal, outage, patient, play, quick};
use crate::host::{Host, logged};

/// How far a host has come when it ends. The second process never answers.
#[derive(Debug, Clone, Copy)]
enum Stage {
    Waiting,
    Attempting,
}

async fn away(stage: Stage) -> (Host, ServerLog, ServerProcess) {
    let builder: McpRuntimeBuilder = match stage {
        Stage::Waiting => patient(),
        Stage::Attempting => quick(),
    };
    let script = mortal().rule(Rule::on("initialize", []).in_process(2));
    let (mut host, process) = play(builder, &script).await;
    die(&host).await;
    host.await_event(disconnected).await;
    if matches!(stage, Stage::Attempting) {
        process.log().expect("initialize", 2).await;
    }
    (host, process.log(), process)
}

/// R11
#[tokio::test]
async fn a_shutdown_does_not_wait_for_a_server_that_is_away() {
    for stage in [Stage::Waiting, Stage::Attempting] {
        let (mut host, log, _process) = away(stage).await;
        assert!(outage(&host).is_reconnecting(), "{stage:?}");
        let begun = Instant::now();
        let report = host.end().await;
        assert_eq!(report.killed(), [0; 0], "{stage:?}");
        assert!(
            begun.elapsed() < Duration::from_secs(1),
            "{stage:?}: {:?}",
            begun.elapsed()
        );
        assert_eq!(log.alive(), [0; 0], "{stage:?}");
        assert!(!outage(&host).is_reconnecting(), "{stage:?}: given up");
        let told = host.told_to_the_end().await;
        assert_eq!(told.len(), 0, "{stage:?}: {told:?}");
    }
}

/// R6
#[tokio::test]
async fn nothing_survives_a_host_that_is_dropped_while_its_server_is_away() {
    for stage in [Stage::Waiting, Stage::Attempting] {
        let (host, log, _process) = away(stage).await;
        drop(host);
        log.expect_all_gone().await;
    }
}

/// R11: also one that is coming back at that very moment.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_left_of_a_server_that_comes_back_during_a_shutdown() {
    type HasCome = fn(&ServerLog) -> bool;
    let comes: [(&str, HasCome); 4] = [
        ("it has been started", |log| log.pids().len() == 2),
        ("it is shaking hands", |log| log.count("initialize") == 2),
        ("it is being listed", |log| log.count("tools/list") == 2),
        ("it is away", |_| true),
    ];
    for (stage, has_come) in comes {
        let (mut host, process) = play(quick(), &mortal()).await;
        die(&host).await;
        host.await_event(disconnected).await;
        logged(&process.log(), has_come).await;
        host.end().await;
        assert_eq!(process.log().alive(), [0; 0], "{stage}");
        let told = host.told_to_the_end().await;
        let other = |event: &RuntimeEvent| !matches!(event, RuntimeEvent::Reconnected { .. });
        assert!(!told.iter().any(other), "{stage}: {told:?}");
    }
}
