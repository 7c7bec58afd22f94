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
async fn handshake_and_listing_draw_on_one_budget() {
    let slow = Script::new()
        .rule(slow("initialize", Duration::from_millis(800)))
        .rule(slow("tools/list", Duration::from_millis(1_900)));
    check(slow, Duration::from_secs(2), "0.8 s and 1.9 s").await;
}

/// R2
#[tokio::test]
async fn all_pages_of_a_listing_draw_on_one_budget() {
    let pages = Script::new()
        .tool_named("a")
        .next_page()
        .tool_named("b")
        .next_page()
        .tool_named("c");
    let slow = pages.rule(slow("tools/list", Duration::from_millis(800)));
    check(slow, Duration::from_secs(2), "three times 0.8 s").await;
}
