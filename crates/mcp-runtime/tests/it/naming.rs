//! Servers and tools of any name: each is told apart, named for the model and called by its own name (K1, K4).

use std::collections::HashSet;

use mcp_runtime::{CallOptions, RuntimeEvent};
use mcp_testkit::{Action, Rule, Script};
use serde_json::json;

use crate::host::{Host, at_once, stdio};

/// Names that servers in the wild have, or could.
fn names() -> Vec<String> {
    let long = |letter: &str| format!("create_page_with_{}_one_tail", letter.repeat(80));
    let plain = [
        "calendar.create",
        "user-profile/update",
        "Get File",
        "größe",
        "工具",
        "emoji🙂tool",
        "UPPER_case-9",
        "semi;colon",
        "__proto__",
        "constructor",
        "a.b",
        "a/b",
        "a_b",
        "a b",
        "a__b",
        "0",
        "-",
        "_",
        "mcp__scripted__a",
        "x\"quoted\\",
        "null",
        "<script>",
        "$id",
        "../..",
        "x\u{2028}y",
    ];
    let plain = plain.into_iter().map(ToOwned::to_owned);
    plain
        .chain([long("m"), long("n"), "a".repeat(256)])
        .collect()
}

/// What a model may be told.
fn is_for_a_model(name: &str) -> bool {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
    name.len() <= 64 && name.chars().all(plain)
}

/// K4
#[tokio::test]
async fn every_tool_has_a_name_for_the_model_and_is_called_by_its_own() {
    let names = names();
    let script = names
        .iter()
        .fold(Script::new(), |script, name| script.tool_named(name));
    let (host, process) = Host::play(&script).await;
    let binding = host.runtime.capture();
    let mut flat = HashSet::new();
    for tool in binding.tools() {
        let name = tool.name().flat();
        assert!(is_for_a_model(name), "{name:?} of {:?}", tool.tool().name());
        assert!(flat.insert(name.to_owned()), "{name} means two tools");
        let call = binding.prepare(name).expect("it is offered");
        let own = call.key().tool().to_string();
        let output = at_once(call.execute(CallOptions::new())).await;
        assert_eq!(output.expect(&own).text(), own);
        assert_eq!(process.log().count_calls(&own), 1, "{own:?}");
    }
    let mut listed = host.tools();
    listed.sort_unstable();
    let mut names = names;
    names.sort_unstable();
    assert_eq!(listed, names);
    host.end().await;
}

/// K1: a name that is none costs its tool, and is told.
#[tokio::test]
async fn a_tool_without_a_usable_name_costs_itself() {
    let unusable = ["", " ", " a", "a ", "a\nb", "a\0", "\u{7f}", "\u{feff}\n"];
    let unusable = unusable
        .map(ToOwned::to_owned)
        .into_iter()
        .chain(["a".repeat(257)]);
    let unusable: Vec<_> = unusable.collect();
    let tools = unusable.iter().map(|name| json!({"name": name}));
    let tools: Vec<_> = tools.chain([json!({"name": "good"})]).collect();
    let listed = Action::Result(json!({"tools": tools}));
    let script = Script::new().rule(Rule::on("tools/list", [listed]));
    let (mut host, _process) = Host::play(&script).await;
    assert_eq!(host.tools(), ["good"]);
    let told = host.told();
    let remarks = told
        .iter()
        .filter(|event| matches!(event, RuntimeEvent::Listing { .. }));
    assert_eq!(remarks.count(), unusable.len(), "{told:?}");
    host.end().await;
}

/// K1, K4
#[tokio::test]
async fn servers_of_any_name_stand_beside_one_another() {
    let names = [
        "My Server",
        "acme:prod",
        "datenbank-größe",
        "工具",
        "a.b",
        "a/b",
        "a_b",
        "a b",
        "🙂",
    ];
    let longest = "s".repeat(128);
    let names: Vec<_> = names.into_iter().chain([longest.as_str()]).collect();
    let process = Script::new().tool_named("t").command();
    let host = Host::serve(names.iter().map(|name| stdio(name, &process)));
    at_once(host.runtime.settled()).await;
    let binding = host.runtime.capture();
    let flat: HashSet<_> = binding
        .tools()
        .map(|tool| tool.name().flat().to_owned())
        .collect();
    assert_eq!(flat.len(), names.len(), "{flat:?}");
    assert!(flat.iter().all(|name| is_for_a_model(name)), "{flat:?}");
    for name in names {
        let call = binding.prepare_tool(name, None, "t").expect(name);
        assert_eq!(call.key().server().name().as_str(), name);
        assert_eq!(
            at_once(call.execute(CallOptions::new()))
                .await
                .expect(name)
                .text(),
            "t"
        );
    }
    host.end().await;
}
