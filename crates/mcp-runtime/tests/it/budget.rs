//! One budget for everything a startup does (R2).

use std::time::Duration;

use mcp_runtime::{Phase, ServerState, StartupErrorKind};
use mcp_testkit::{Action, Rule, Script};

use crate::host::{Host, SERVER, at_once, stdio};

/// A startup whose steps are each within the budget, but not together.
async fn check(slow: Script, budget: Duration, why: &str) {
    let process = slow.command();
    let host = Host::serve([stdio(SERVER, &process).startup_timeout(budget)]);
    at_once(host.runtime.settled()).await;
    let ServerState::Failed { error, elapsed } = host.state(SERVER) else {
        panic!("{why}: {:?}", host.state(SERVER))
    };
    // The handshake was over in time, and the listing alone would have been.
    assert_eq!(error.phase(), Phase::Listing, "{why}");
    let StartupErrorKind::Timeout(timeout, _) = error.kind() else {
        panic!("{why}: {error:?}")
    };
    assert_eq!(timeout.budget(), budget, "{why}");
    assert!(
        elapsed >= budget && elapsed < budget * 2,
        "{why}: {elapsed:?}"
    );
    host.end().await;
    process.log().expect_all_gone().await;
}

fn slow(method: &str, delay: Duration) -> Rule {
    Rule::on(method, [Action::delay(delay), Action::Standard])
}

/// R2
#[tokio::test]
async fn the_steps_of_a_startup_draw_on_one_budget() {
    let (budget, pause) = (Duration::from_secs(2), Duration::from_millis(800));
    let both = Script::new()
        .rule(slow("initialize", pause))
        .rule(slow("tools/list", Duration::from_millis(1_900)));
    let pages = Script::new()
        .tool_named("a")
        .next_page()
        .tool_named("b")
        .next_page()
        .tool_named("c");
    let pages = pages.rule(slow("tools/list", pause));
    tokio::join!(
        check(both, budget, "a handshake of 0.8 s and a listing of 1.9 s"),
        check(pages, budget, "a listing of three times 0.8 s"),
    );
}
