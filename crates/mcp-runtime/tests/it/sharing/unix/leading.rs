//! The startup that fetches for others: stuck, given up, or too slow for one of them (C3, C4, C4b).

use std::time::Duration;

use mcp_runtime::{ErrorCode, ListingShare, Phase, ServerState, StartupErrorKind};
use mcp_testkit::{Action, Rule, Script};
use tokio::time::Instant;

use super::gated::Gated;
use super::{begin, count_shared, end, shared};
use crate::host::{SERVER, at_once, stdio};

/// How late a timeout may be on a busy machine.
const SLACK: Duration = Duration::from_secs(1);

/// C4b: everybody is served by a backup, the one that is stuck included.
#[tokio::test]
async fn a_fetching_server_that_hangs_takes_nobody_down() {
    const BUDGET: Duration = Duration::from_secs(8);
    const CROWD: usize = 20;
    let script = Script::new()
        .tool_named("search")
        .rule(Rule::on("tools/list", []).in_process(1));
    let process = script.command();
    let share = ListingShare::default();
    let config = || stdio(SERVER, &process).startup_timeout(BUDGET);
    let mut hosts = vec![begin(&share, config())];
    // From here on the first process is known by its entry in the log.
    process.log().expect("tools/list", 1).await;
    hosts.extend((1..CROWD).map(|_| begin(&share, config())));
    let shared = count_shared(&hosts).await;
    let listings = process.log().count("tools/list");
    assert!((2..=6).contains(&listings), "{listings} listings");
    assert!(
        shared > CROWD - listings,
        "{shared} of {CROWD} shared {listings} listings"
    );
    end(&hosts).await;
}

/// C3: the time spent waiting is the waiter's own, and its timeout disturbs nobody.
#[tokio::test]
async fn a_waiter_times_out_by_its_own_deadline() {
    const BUDGET: Duration = Duration::from_secs(2);
    let gated = Gated::new(&Script::new().tool_named("search"));
    let share = ListingShare::default();
    let patient = begin(&share, gated.config());
    gated.joined(1).await;
    let begun = Instant::now();
    let waiter = begin(&share, gated.config().startup_timeout(BUDGET));
    at_once(waiter.runtime.settled()).await;
    assert!(begun.elapsed() < BUDGET + SLACK, "{:?}", begun.elapsed());
    let ServerState::Failed { error, elapsed } = waiter.state(SERVER) else {
        panic!("a waiter without a listing is not ready");
    };
    assert!(elapsed >= BUDGET, "{elapsed:?}");
    assert_eq!(error.code(), ErrorCode::RequestTimeout);
    assert_eq!(error.phase(), Phase::Listing);
    assert!(
        matches!(error.kind(), StartupErrorKind::Timeout(..)),
        "{error:?}"
    );
    assert!(
        matches!(patient.state(SERVER), ServerState::Starting),
        "the other goes on"
    );
    gated.open();
    assert!(!shared(&patient).await);
    end(&[patient, waiter]).await;
}

/// C4
#[tokio::test]
async fn a_waiter_takes_over_from_a_startup_that_is_given_up() {
    let gated = Gated::new(&Script::new().tool_named("search"));
    let share = ListingShare::default();
    let leader = begin(&share, gated.config());
    gated.joined(1).await;
    let waiters = [(); 3].map(|()| begin(&share, gated.config()));
    gated.joined(4).await;
    assert_eq!(gated.log().count("tools/list"), 1);
    drop(leader);
    let fetched = gated.listing(2).await;
    assert_ne!(fetched[0], fetched[1], "on a connection of its own");
    gated.open();
    assert_eq!(count_shared(&waiters).await, 2);
    assert_eq!(gated.log().count("tools/list"), 2);
    end(&waiters).await;
}

/// C4: a waiter that is given up matters to nobody.
#[tokio::test]
async fn a_waiter_that_is_given_up_disturbs_nobody() {
    let gated = Gated::new(&Script::new().tool_named("search"));
    let share = ListingShare::default();
    let leader = begin(&share, gated.config());
    gated.joined(1).await;
    let gone = begin(&share, gated.config());
    let waiter = begin(&share, gated.config());
    gated.joined(3).await;
    drop(gone);
    gated.open();
    assert!(!shared(&leader).await);
    assert!(shared(&waiter).await);
    assert_eq!(gated.log().count("tools/list"), 1);
    end(&[leader, waiter]).await;
}

/// C1: a connection that ends while its startup waits for another's listing is not offered as ready.
#[tokio::test]
async fn a_waiter_whose_server_is_killed_fails_at_once_and_alone() {
    let gated = Gated::new(&Script::new().tool_named("search"));
    let share = ListingShare::default();
    let leader = begin(&share, gated.config());
    gated.joined(1).await;
    let waiter = begin(&share, gated.config());
    gated.joined(2).await;
    gated.kill(gated.asked("initialize")[1]);
    at_once(waiter.runtime.settled()).await;
    let ServerState::Failed { error, .. } = waiter.state(SERVER) else {
        panic!("a dead server is not ready");
    };
    assert_eq!(error.code(), ErrorCode::StartupFailed);
    gated.open();
    assert!(!shared(&leader).await);
    end(&[leader, waiter]).await;
}

/// C4: an error of the fetch belongs to the one whose server gave it.
#[tokio::test]
async fn a_listing_that_is_refused_is_the_failure_of_one() {
    let busy = Action::Error {
        code: -32_603,
        message: "busy".into(),
        data: serde_json::Value::Null,
    };
    let script = Script::new()
        .tool_named("search")
        .rule(Rule::on("tools/list", [busy]).in_process(1));
    let gated = Gated::new(&script);
    let share = ListingShare::default();
    let leader = begin(&share, gated.config());
    gated.joined(1).await;
    let waiter = begin(&share, gated.config());
    gated.joined(2).await;
    gated.open();
    at_once(leader.runtime.settled()).await;
    let ServerState::Failed { error, .. } = leader.state(SERVER) else {
        panic!("a refused listing is a failure");
    };
    assert_eq!(error.rpc().map(|error| error.code()), Some(-32_603));
    assert!(!shared(&waiter).await);
    assert_eq!(gated.log().count("tools/list"), 2);
    end(&[leader, waiter]).await;
}
