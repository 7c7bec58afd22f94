//! Fifty startups at once, whatever becomes of the one that fetches (C1, C4, C7).

use std::collections::BTreeSet;

use mcp_runtime::{ListingShare, ServerState};
use mcp_testkit::{Action, Rule, Script};
use serde_json::json;

use super::gated::Gated;
use super::{begin, count_shared, end, shared};
use crate::host::{Host, SERVER, at_once, stdio};

const CROWD: usize = 50;

fn crowd(share: &ListingShare, gated: &Gated) -> Vec<Host> {
    let startup = |_| begin(share, gated.config());
    (0..CROWD).map(startup).collect()
}

/// Calls the tool once on every connection; the processes that were called.
async fn call_each(hosts: &[Host], gated: &Gated) -> BTreeSet<i32> {
    for host in hosts {
        host.call("search").await.unwrap();
    }
    gated.asked("tools/call").into_iter().collect()
}

/// C1
#[tokio::test]
async fn fifty_overlapping_startups_list_once_and_keep_their_own_connections() {
    let gated = Gated::new(&Script::new().tool_named("search"));
    let share = ListingShare::default();
    let hosts = crowd(&share, &gated);
    gated.joined(CROWD).await;
    let log = gated.log();
    assert_eq!(log.count("tools/list"), 1, "before anybody has a listing");
    gated.open();
    assert_eq!(count_shared(&hosts).await, CROWD - 1);
    assert_eq!(log.count("initialize"), CROWD);
    assert_eq!(log.count("tools/list"), 1);
    assert_eq!(call_each(&hosts, &gated).await.len(), CROWD);
    end(&hosts).await;
}

/// C4: nobody ends with the failure of another.
#[tokio::test]
async fn a_fetching_server_that_is_killed_costs_one_listing_more() {
    let gated = Gated::new(&Script::new().tool_named("search"));
    let share = ListingShare::default();
    let hosts = crowd(&share, &gated);
    gated.joined(CROWD).await;
    let first = gated.listing(1).await;
    gated.kill(first[0]);
    let fetched = gated.listing(2).await;
    assert_ne!(fetched[0], fetched[1], "on a connection of its own");
    gated.open();
    for host in &hosts {
        at_once(host.runtime.settled()).await;
    }
    let failed = |host: &Host| matches!(host.state(SERVER), ServerState::Failed { .. });
    let (failed, ready): (Vec<_>, Vec<_>) = hosts.into_iter().partition(failed);
    assert_eq!(failed.len(), 1, "the one whose server was killed");
    assert_eq!(ready.len(), CROWD - 1);
    assert_eq!(count_shared(&ready).await, CROWD - 2);
    assert_eq!(gated.log().count("tools/list"), 2);
    end(&ready).await;
}

/// C2, C7: nothing is kept.
#[tokio::test]
async fn a_later_startup_fetches_again() {
    let process = Script::new().tool_named("search").command();
    let share = ListingShare::default();
    for listings in 1..=3 {
        let host = begin(&share, stdio(SERVER, &process));
        assert!(!shared(&host).await);
        assert_eq!(process.log().count("tools/list"), listings);
        host.end().await;
    }
}

/// C0: without a handle a runtime has its own.
#[tokio::test]
async fn runtimes_without_a_common_handle_share_nothing() {
    let gated = Gated::new(&Script::new().tool_named("search"));
    let hosts = [(); 2].map(|()| Host::serve([gated.config()]));
    gated.joined(2).await;
    let asked: BTreeSet<_> = gated.listing(2).await.into_iter().collect();
    assert_eq!(asked.len(), 2);
    gated.open();
    assert_eq!(count_shared(&hosts).await, 0);
    assert_eq!(gated.log().count("tools/list"), 2);
    end(&hosts).await;
}

/// C6: what is cut short is for the one that fetched it.
#[tokio::test]
async fn a_listing_cut_short_is_shared_with_nobody() {
    const FEW: usize = 4;
    let endless = json!({"tools": [{"name": "search"}], "nextCursor": "again"});
    let answer = Action::Result(endless);
    let gated = Gated::new(&Script::new().rule(Rule::on("tools/list", [answer])));
    let share = ListingShare::default();
    let hosts: Vec<_> = (0..FEW).map(|_| begin(&share, gated.config())).collect();
    gated.joined(FEW).await;
    assert_eq!(gated.log().count("tools/list"), 1);
    gated.open();
    assert_eq!(count_shared(&hosts).await, 0);
    let asked = gated.asked("tools/list");
    assert_eq!(asked.len(), 2 * FEW, "two pages until the cursor repeats");
    assert_eq!(asked.into_iter().collect::<BTreeSet<_>>().len(), FEW);
    end(&hosts).await;
}
