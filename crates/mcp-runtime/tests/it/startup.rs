//! How servers start beside one another, and how a startup is given up (R1, R3).

use futures_util::future::join_all;
use mcp_runtime::{RuntimeEvent, ServerConfig, ServerState, StdioTransport};
use mcp_testkit::{Action, Rule, Script, ServerProcess};

use crate::host::{Host, at_once, stdio};

/// Whether the event is a state of this server's startup.
pub(crate) fn is_of(event: &RuntimeEvent, name: &str) -> bool {
    match event {
        RuntimeEvent::Starting { server }
        | RuntimeEvent::Ready { server, .. }
        | RuntimeEvent::Failed { server, .. }
        | RuntimeEvent::Cancelled { server } => server.name().as_str() == name,
        _ => false,
    }
}

/// A server that answers this method in its own way.
pub(crate) fn answering(method: &str, run: impl IntoIterator<Item = Action>) -> Script {
    Script::new().rule(Rule::on(method, run))
}

/// R1: each has been asked before any has answered.
#[tokio::test]
async fn servers_start_beside_one_another() {
    let processes: Vec<_> = (0..4)
        .map(|_| answering("initialize", []).command())
        .collect();
    let servers = processes.iter().enumerate();
    let host = Host::serve(servers.map(|(number, process)| stdio(&format!("s{number}"), process)));
    let logs: Vec<_> = processes.iter().map(ServerProcess::log).collect();
    join_all(logs.iter().map(|log| log.expect("initialize", 1))).await;
    for number in 0..4 {
        let state = host.state(&format!("s{number}"));
        assert!(matches!(state, ServerState::Starting), "{state:?}");
    }
    host.end().await;
    join_all(logs.iter().map(|log| log.expect_all_gone())).await;
}

/// R1
#[tokio::test]
async fn required_servers_that_are_not_ready_are_reported_together() {
    let process = Script::new().command();
    let dead = |name: &str| {
        let nowhere = StdioTransport::new("no-such-program-anywhere");
        ServerConfig::stdio(name.parse().unwrap(), nowhere)
    };
    let host = Host::serve([
        dead("a-required").required(true),
        dead("b-optional"),
        stdio("c-good", &process).required(true),
        dead("d-required").required(true),
    ]);
    let missing = || {
        let missing = host.runtime.missing().into_iter();
        missing
            .map(|status| status.key().name().to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        missing(),
        ["a-required", "c-good", "d-required"],
        "nothing is ready yet"
    );
    at_once(host.runtime.settled()).await;
    assert_eq!(missing(), ["a-required", "d-required"]);
    host.end().await;
}

/// R1
#[tokio::test]
async fn a_disabled_server_starts_no_process() {
    let (good, disabled) = (Script::new().command(), Script::new().command());
    let mut host = Host::serve([
        stdio("good", &good),
        stdio("disabled", &disabled).enabled(false),
    ]);
    at_once(host.runtime.settled()).await;
    assert!(matches!(host.state("disabled"), ServerState::Disabled));
    let told = host.told();
    assert!(
        !told.iter().any(|event| is_of(event, "disabled")),
        "{told:?}"
    );
    host.end().await;
    assert_eq!(disabled.log().pids(), [0; 0]);
    assert_eq!(good.log().pids().len(), 1);
}

/// R3: whatever a startup waits for when it is given up.
#[tokio::test]
async fn a_startup_that_is_given_up_is_told_as_cancelled() {
    for method in ["initialize", "tools/list"] {
        let process = answering(method, []).command();
        let mut host = Host::serve([stdio("slow", &process)]);
        process.log().expect(method, 1).await;
        host.end().await;
        at_once(host.runtime.settled()).await;
        assert!(
            matches!(host.state("slow"), ServerState::Cancelled),
            "{method}"
        );
        let told = host.told_to_the_end().await;
        assert!(
            matches!(
                told.as_slice(),
                [
                    RuntimeEvent::Starting { .. },
                    RuntimeEvent::Cancelled { .. }
                ]
            ),
            "{method}: {told:?}"
        );
        process.log().expect_all_gone().await;
    }
}

/// R3: also when nobody had time to begin.
#[tokio::test]
async fn a_startup_given_up_before_it_began_starts_no_process() {
    let process = Script::new().command();
    let mut host = Host::serve([stdio("late", &process)]);
    host.end().await;
    at_once(host.runtime.settled()).await;
    let told = host.told_to_the_end().await;
    assert!(
        matches!(
            told.as_slice(),
            [
                RuntimeEvent::Starting { .. },
                RuntimeEvent::Cancelled { .. }
            ]
        ),
        "{told:?}"
    );
    assert_eq!(process.log().pids(), [0; 0]);
}
