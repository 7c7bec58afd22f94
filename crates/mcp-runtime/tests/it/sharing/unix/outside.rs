//! Fetches that have nothing to do with sharing: refreshes asked for, and owed (C2).

use mcp_runtime::{ListingShare, RuntimeEvent};
use mcp_testkit::{Action, Rule, Script};
use serde_json::{Value, json};

use super::gated::Gated;
use super::{begin, count_shared, end, shared};
use crate::host::{SERVER, at_once};

/// C2: an explicit refresh never joins, not even a startup of its own scope that is fetching.
#[tokio::test]
async fn an_explicit_refresh_fetches_on_its_own_connection() {
    let gated = Gated::new(&Script::new().tool_named("search"));
    let share = ListingShare::default();
    gated.open();
    let ready = begin(&share, gated.config());
    assert!(!shared(&ready).await);
    gated.close();
    let starting = begin(&share, gated.config());
    gated.joined(2).await;
    let refreshing = ready.runtime.refresh(SERVER);
    let (refreshed, asked) = at_once(async {
        tokio::join!(refreshing, async {
            let asked = gated.listing(3).await;
            gated.open();
            asked
        })
    })
    .await;
    assert_eq!(refreshed.unwrap(), 1);
    assert_eq!(asked[2], asked[0], "the refresh asks its own server");
    assert_ne!(asked[1], asked[0], "the startup its own");
    assert!(!shared(&starting).await);
    assert_eq!(gated.log().count("tools/list"), 3);
    end(&[ready, starting]).await;
}

/// C2: a waiter's own server has announced a change, so the listing of another is not enough.
#[tokio::test]
async fn a_change_announced_to_a_waiter_owes_it_a_listing_of_its_own() {
    let changed = json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
    // The ping is answered after the announcement before it was taken in.
    let announce = [
        Action::Send(changed),
        Action::Ask {
            method: "ping".into(),
            params: Value::Null,
        },
    ];
    let later = json!({"tools": [{"name": "search"}, {"name": "later"}]});
    let script = Script::new()
        .tool_named("search")
        .rule(Rule::on("notifications/initialized", announce).in_process(2))
        .rule(Rule::on("tools/list", [Action::Result(later)]).in_process(2));
    let gated = Gated::new(&script);
    let share = ListingShare::default();
    let leader = begin(&share, gated.config());
    gated.joined(1).await;
    let mut waiter = begin(&share, gated.config());
    gated.joined(2).await;
    gated.answered("server-1").await;
    assert_eq!(gated.log().count("tools/list"), 1, "it goes on waiting");
    gated.open();
    let hosts = [&leader, &waiter];
    assert!(!shared(hosts[0]).await);
    assert!(shared(hosts[1]).await);
    waiter
        .await_event(|event| matches!(event, RuntimeEvent::CatalogChanged { tools: 2, .. }))
        .await;
    assert_eq!(waiter.tools(), ["later", "search"]);
    assert_eq!(leader.tools(), ["search"], "nobody else owes anything");
    let asked = gated.asked("tools/list");
    assert_eq!(asked.len(), 2);
    assert_ne!(asked[0], asked[1], "on the waiter's own connection");
    end(&[leader, waiter]).await;
}

/// C8: a catalog belongs to one connection, though its first listing was shared.
#[tokio::test]
async fn a_refresh_of_one_changes_nothing_for_the_others() {
    let later = json!({"tools": [{"name": "search"}, {"name": "later"}]});
    let first = Rule::on("tools/list", [Action::Standard]).times(1);
    let script = Script::new()
        .tool_named("search")
        .rule(first)
        .rule(Rule::on("tools/list", [Action::Result(later)]));
    let gated = Gated::new(&script);
    let share = ListingShare::default();
    let hosts = [(); 3].map(|()| begin(&share, gated.config()));
    gated.joined(3).await;
    gated.open();
    assert_eq!(count_shared(&hosts).await, 2);
    let mut leader = None;
    for host in &hosts {
        if !shared(host).await {
            leader = Some(host);
        }
    }
    let leader = leader.unwrap();
    let refreshed = at_once(leader.runtime.refresh(SERVER)).await;
    assert_eq!(refreshed.unwrap(), 2);
    let mut offered: Vec<_> = hosts.iter().map(|host| host.tools().len()).collect();
    offered.sort_unstable();
    assert_eq!(offered, [1, 1, 2]);
    end(&hosts).await;
}
