//! What a new connection offers, and what becomes of calls that were prepared on the old one (B2, C8, C9).

use mcp_runtime::{CallOptions, ErrorCode, RuntimeEvent};
use mcp_testkit::{Action, Rule, Script};
use serde_json::json;

use super::{die, mortal, play, quick, reconnected};
use crate::host::{at_once, text};

fn lists(names: &[&str]) -> Action {
    let tools: Vec<_> = names.iter().map(|name| json!({"name": name})).collect();
    Action::Result(json!({"tools": tools}))
}

fn changed() -> Action {
    Action::Send(json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}))
}

fn catalog_changed(event: &RuntimeEvent) -> bool {
    matches!(event, RuntimeEvent::CatalogChanged { .. })
}

/// R10: the new listing counts, and that it is another one is told.
#[tokio::test]
async fn a_server_that_comes_back_with_other_tools_has_changed() {
    let script = mortal()
        .rule(Rule::on("tools/list", [lists(&["die", "search"])]).in_process(1))
        .rule(Rule::on("tools/list", [lists(&["die", "find", "search"])]));
    let (mut host, process) = play(quick(), &script).await;
    die(&host).await;
    host.await_event(reconnected).await;
    let told = host.await_event(catalog_changed).await;
    assert!(
        matches!(
            told.as_slice(),
            [RuntimeEvent::CatalogChanged { tools: 3, .. }]
        ),
        "{told:?}"
    );
    assert_eq!(host.tools(), ["die", "find", "search"]);
    host.end().await;
    process.log().expect_all_gone().await;
}

/// B2: it never runs on a connection that it was not prepared on.
#[tokio::test]
async fn a_call_prepared_on_the_old_connection_is_refused() {
    let (mut host, process) = play(quick(), &mortal()).await;
    let (binding, prepared) = (host.runtime.capture(), host.prepare("search"));
    die(&host).await;
    host.await_event(reconnected).await;
    let late = binding.prepare_tool("scripted", None, "search");
    for old in [prepared, late.expect("a binding never changes")] {
        let called = at_once(old.execute(CallOptions::new())).await;
        let error = called.expect_err("its connection is gone");
        assert_eq!(error.code(), ErrorCode::TransportClosed, "{}", text(&error));
        assert!(
            text(&error).contains("exited with status 3"),
            "{}",
            text(&error)
        );
    }
    assert_eq!(process.log().count_calls("search"), 0);
    assert!(host.call("search").await.is_ok(), "one prepared now runs");
    assert_eq!(process.log().count_calls("search"), 1);
    host.end().await;
}

/// C9: a refresh is owed to a connection, and goes with it; the next connection has its own.
#[tokio::test]
async fn a_refresh_that_was_owed_dies_with_its_connection() {
    let names = ["die", "search"];
    let more = ["change", "die", "search"];
    let script = Script::new()
        .rule(Rule::on_tool("die", [changed()]).in_process(1))
        .rule(Rule::on_tool("change", [changed(), Action::Standard]))
        .rule(
            Rule::on("tools/list", [lists(&names)])
                .in_process(1)
                .times(1),
        )
        .rule(Rule::on("tools/list", [Action::Exit(3)]).in_process(1))
        .rule(Rule::on("tools/list", [lists(&more)]).times(2))
        .rule(Rule::on("tools/list", [lists(&names)]))
        .tool_named("change");
    let (mut host, process) = play(quick(), &script).await;
    die(&host).await;
    host.await_event(reconnected).await;
    let refreshed = at_once(host.runtime.refresh("scripted")).await;
    assert_eq!(refreshed.expect("a listing"), 3);
    // Two of the first process, two of the second: what is asked for comes after whatever was owed.
    assert_eq!(process.log().count("tools/list"), 4);
    host.await_event(catalog_changed).await;
    host.call("change").await.expect("it is there again");
    host.await_event(catalog_changed).await;
    assert_eq!(host.tools(), names, "the new connection is looked after");
    host.end().await;
    process.log().expect_all_gone().await;
}
