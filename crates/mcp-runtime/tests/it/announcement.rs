//! Servers that announce changes of their tools, in either era (C8, C9).

use std::time::Duration;

use mcp_runtime::{Era, RuntimeEvent};
use mcp_testkit::{Action, Rule, Script, ServerProcess};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::host::{Host, SERVER, logged, stdio};

fn changed() -> Action {
    Action::Send(json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}))
}

fn tools(names: &[&str]) -> Action {
    let tools: Vec<_> = names.iter().map(|name| json!({"name": name})).collect();
    Action::Result(json!({"tools": tools}))
}

/// Lists `names` once for each row, and what the last row says from then on.
fn lists(script: Script, rows: &[&[&str]]) -> Script {
    let last = rows.last().expect("a listing");
    let script = rows.iter().fold(script, |script, names| {
        script.rule(Rule::on("tools/list", [tools(names)]).times(1))
    });
    script.rule(Rule::on("tools/list", [tools(last)]))
}

fn catalog_changed(event: &RuntimeEvent) -> bool {
    matches!(event, RuntimeEvent::CatalogChanged { tools: 2, .. })
}

/// A server of the modern era. `listen` is what it does about a subscription besides acknowledging it.
fn modern(listen: impl IntoIterator<Item = Action>) -> Script {
    let discovered = json!({
        "resultType": "complete",
        "supportedVersions": ["2026-07-28"],
        "capabilities": {"tools": {"listChanged": true}},
        "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "scripted", "version": "1.0.0"}},
    });
    let acknowledged = subscribed(
        "notifications/subscriptions/acknowledged",
        json!({"notifications": {"toolsListChanged": true}}),
    );
    Script::new()
        .rule(Rule::on("server/discover", [Action::Result(discovered)]))
        .rule(Rule::on(
            "subscriptions/listen",
            [acknowledged].into_iter().chain(listen),
        ))
}

/// A notification that belongs to the subscription whose request fires the rule.
fn subscribed(method: &str, mut params: Value) -> Action {
    params["_meta"] = json!({"io.modelcontextprotocol/subscriptionId": "$id"});
    Action::Send(json!({"jsonrpc": "2.0", "method": method, "params": params}))
}

async fn ready(script: &Script, era: Era) -> (Host, ServerProcess) {
    let process = script.command();
    let host = Host::ready(stdio(SERVER, &process).era(era)).await;
    (host, process)
}

/// C9: however many are announced, at most one listing runs and one more is owed.
#[tokio::test]
async fn a_storm_of_announcements_costs_a_few_listings() {
    const STORM: u64 = 500;
    let storm = [Action::Repeat(STORM, vec![changed()]), Action::Standard];
    let script = lists(Script::new(), &[&["storm"], &["storm", "later"]]);
    let script = script
        .rule(Rule::on_tool("storm", storm))
        .tool_named("storm");
    let (mut host, process) = ready(&script, Era::Legacy).await;
    host.call("storm").await.unwrap();
    host.await_event(catalog_changed).await;
    assert_eq!(host.tools(), ["later", "storm"]);
    // A listing asked for now comes after whatever the storm was owed first.
    host.runtime.refresh(SERVER).await.unwrap();
    let listings = process.log().count("tools/list");
    assert!((3..=6).contains(&listings), "{listings} listings");
    host.end().await;
}

/// C9: pauses of 100, 200, 400 and 800 ms are between the second listing and the sixth.
#[tokio::test]
async fn a_server_that_announces_after_every_listing_is_asked_less_and_less_often() {
    let script = Script::new()
        .tool_named("search")
        .rule(Rule::on("tools/list", [Action::Standard, changed()]));
    let begun = Instant::now();
    let (host, process) = ready(&script, Era::Legacy).await;
    logged(&process.log(), |log| log.count("tools/list") >= 6).await;
    assert!(
        begun.elapsed() >= Duration::from_millis(1_500),
        "six listings within {:?}",
        begun.elapsed()
    );
    assert_eq!(host.call("search").await.unwrap().text(), "search");
    host.end().await;
}

/// C8: the debt stays, and so does the listing.
#[tokio::test]
async fn an_announced_listing_that_fails_keeps_the_last_one_and_is_tried_again() {
    let busy = Action::Error {
        code: -32_603,
        message: "busy".into(),
        data: Value::Null,
    };
    let script = Script::new()
        .rule(Rule::on("tools/list", [tools(&["search"]), changed()]).times(1))
        .rule(Rule::on("tools/list", [busy]).times(1))
        .rule(Rule::on("tools/list", []));
    let (host, process) = ready(&script, Era::Legacy).await;
    // The third is asked for once the second has failed, and is never answered.
    process.log().expect("tools/list", 3).await;
    assert_eq!(host.tools(), ["search"]);
    host.end().await;
}

/// C9 in the era in which announcements come to those who asked.
#[tokio::test]
async fn a_subscription_brings_the_new_tools() {
    let announced = subscribed("notifications/tools/list_changed", json!({}));
    let listen = [Action::delay(Duration::from_millis(200)), announced];
    let script = lists(modern(listen), &[&["search"], &["search", "later"]]);
    let (mut host, process) = ready(&script, Era::Modern).await;
    host.await_event(catalog_changed).await;
    assert_eq!(host.tools(), ["later", "search"]);
    let log = process.log();
    assert_eq!(log.count("initialize"), 0);
    assert_eq!(log.count("subscriptions/listen"), 1);
    assert_eq!(log.count("tools/list"), 2);
    let messages = log.messages();
    let place = |method: &str| {
        messages
            .iter()
            .position(|message| message["method"] == method)
    };
    let (listen, list) = (place("subscriptions/listen"), place("tools/list"));
    assert!(
        listen < list,
        "no change after the listing goes unannounced"
    );
    let asked = &messages[listen.expect("a subscription")]["params"];
    assert_eq!(asked["notifications"], json!({"toolsListChanged": true}));
    host.end().await;
}

/// C9 in the modern era
#[tokio::test]
async fn a_storm_over_a_subscription_costs_a_few_listings() {
    let announced = subscribed("notifications/tools/list_changed", json!({}));
    let storm = Action::Repeat(500, vec![announced]);
    let listen = [Action::delay(Duration::from_millis(200)), storm];
    let script = lists(modern(listen), &[&["search"], &["search", "later"]]);
    let (mut host, process) = ready(&script, Era::Modern).await;
    host.await_event(catalog_changed).await;
    host.runtime.refresh(SERVER).await.unwrap();
    let listings = process.log().count("tools/list");
    assert!((3..=6).contains(&listings), "{listings} listings");
    host.end().await;
}

/// C9: what was announced to nobody meanwhile is listed.
#[tokio::test]
async fn a_subscription_that_ends_is_opened_again() {
    let ended = Action::Result(json!({"resultType": "complete"}));
    let script = modern([ended]);
    let script = lists(script, &[&["search"], &["search", "later"]]);
    let (mut host, process) = ready(&script, Era::Modern).await;
    host.await_event(catalog_changed).await;
    assert!(process.log().count("subscriptions/listen") >= 2);
    assert_eq!(host.tools(), ["later", "search"]);
    host.end().await;
}

/// C9: a server that refuses subscriptions is started all the same.
#[tokio::test]
async fn a_refused_subscription_costs_the_announcements_only() {
    let refused = Action::Error {
        code: -32_601,
        message: "Method not found".into(),
        data: Value::Null,
    };
    let script = Script::new().rule(Rule::on("subscriptions/listen", [refused]));
    let discovered = json!({
        "supportedVersions": ["2026-07-28"],
        "capabilities": {"tools": {"listChanged": true}},
    });
    let discover = Rule::on("server/discover", [Action::Result(discovered)]);
    let script = script.rule(discover).tool_named("search");
    let (host, _process) = ready(&script, Era::Modern).await;
    assert_eq!(host.call("search").await.unwrap().text(), "search");
    host.end().await;
}
