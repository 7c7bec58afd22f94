//! Bindings and prepared calls over JSON lines (B1, B2).

use mcp_testkit::{Action, Rule, Script, ServerProcess};
use serde_json::{Value, json};

use super::{Session, check_invalid};
use crate::program::scripted;

fn tool(name: &str, description: &str) -> Value {
    json!({"name": name, "description": description, "inputSchema": {"type": "object"}})
}

/// A server that lists `search` and `other` once, and this from then on. It ends when `die` is called.
fn changing(then: &Value) -> (ServerProcess, Value) {
    let lists = |tools: &Value| [Action::Result(json!({"tools": tools}))];
    let first = json!([
        tool("search", "finds"),
        tool("other", "helps"),
        tool("die", "ends")
    ]);
    let answers = [Action::Result(json!({"content": []}))];
    let script = Script::new()
        .rule(Rule::on("tools/list", lists(&first)).times(1))
        .rule(Rule::on("tools/list", lists(then)))
        .rule(Rule::on_tool("die", [Action::Exit(3)]).in_process(1));
    scripted(&script.rule(Rule::on("tools/call", answers)))
}

#[track_caller]
fn prepare(session: &mut Session) -> Value {
    let captured = session.ask(&json!({"id": "1", "op": "capture"}));
    let prepare = json!({"id": "2", "op": "prepare", "binding": captured["binding"], "server": "docs", "tool": "search", "arguments": {"n": 1}});
    let prepared = session.ask(&prepare);
    assert_eq!(prepared["ok"], true, "{prepared}");
    assert!(prepared["call"].is_string(), "{prepared}");
    assert_eq!(
        prepared["definition_digest"].as_str().map(str::len),
        Some(64)
    );
    prepared["call"].clone()
}

#[track_caller]
fn execute(session: &mut Session, call: &Value) -> Value {
    session.ask(&json!({"id": "3", "op": "execute", "call": call, "meta": {"x/a": 1}}))
}

/// B1, B2
#[test]
fn a_call_is_captured_prepared_and_executed_once() {
    let (process, entry) = changing(&json!([]));
    let mut session = Session::started(&json!({"docs": entry}));
    let captured = session.ask(&json!({"id": "0", "op": "capture"}));
    assert!(captured["binding"].is_string(), "{captured}");
    let names: Vec<_> = captured["tools"]
        .as_array()
        .expect("tools")
        .iter()
        .map(|tool| &tool["tool"])
        .collect();
    assert_eq!(names, ["die", "other", "search"]);
    let call = prepare(&mut session);
    let answer = execute(&mut session, &call);
    assert_eq!(answer["outcome"], "ok", "{answer}");
    check_invalid(&execute(&mut session, &call), "there is no call");
    assert_eq!(session.end(), Some(0));
    let messages = process.log().messages();
    let sent = messages
        .iter()
        .find(|message| message["method"] == "tools/call")
        .expect("a call");
    assert_eq!(sent["params"]["arguments"], json!({"n": 1}));
    assert_eq!(sent["params"]["_meta"]["x/a"], 1);
    assert_eq!(process.log().count_calls("search"), 1);
}

#[test]
fn what_is_not_held_is_not_found() {
    let (_process, entry) = changing(&json!([]));
    let mut session = Session::started(&json!({"docs": entry}));
    let call = prepare(&mut session);
    let binding = session.ask(&json!({"id": "1", "op": "capture"}))["binding"].clone();
    let mut ask = |members: Value| {
        let mut request = members;
        request["id"] = json!("x");
        session.ask(&request)
    };
    let by =
        |binding: &Value, name: &str| json!({"op": "prepare", "binding": binding, "name": name});
    check_invalid(
        &ask(by(&json!("binding-99"), "mcp__docs__search")),
        "there is no binding",
    );
    check_invalid(&ask(by(&call, "mcp__docs__search")), "there is no binding");
    check_invalid(
        &ask(by(&binding, "mcp__docs__nope")),
        "no tool of this binding",
    );
    check_invalid(
        &ask(json!({"op": "prepare", "binding": binding})),
        "`prepare` takes either",
    );
    check_invalid(&ask(json!({"op": "release"})), "either `binding` or `call`");
    let both = json!({"op": "release", "binding": binding, "call": call});
    check_invalid(&ask(both), "either `binding` or `call`");
    assert_eq!(
        ask(json!({"op": "release", "binding": binding})),
        json!({"id": "x", "ok": true})
    );
    check_invalid(
        &ask(json!({"op": "release", "binding": binding})),
        "there is no binding",
    );
    check_invalid(
        &ask(by(&binding, "mcp__docs__search")),
        "there is no binding",
    );
    assert_eq!(ask(json!({"op": "release", "call": call}))["ok"], true);
    check_invalid(
        &ask(json!({"op": "execute", "call": call})),
        "there is no call",
    );
    assert_eq!(session.end(), Some(0));
}

/// Prepares a call of `search`, lets something happen, and executes it.
#[track_caller]
fn check(then: &Value, happens: impl Fn(&mut Session), code: Option<&str>, why: &str) {
    let (process, entry) = changing(then);
    let mut session = Session::started(&json!({"docs": entry}));
    let call = prepare(&mut session);
    happens(&mut session);
    let answer = execute(&mut session, &call);
    assert_eq!(answer["error"]["code"].as_str(), code, "{why}: {answer}");
    assert_eq!(session.end(), Some(0));
    let sent = usize::from(code.is_none());
    assert_eq!(process.log().count_calls("search"), sent, "{why}");
}

/// B2
#[test]
fn a_call_whose_tool_or_connection_is_another_now_is_refused_and_nothing_is_sent() {
    let refresh = |session: &mut Session| {
        let refreshed = session.ask(&json!({"id": "r", "op": "refresh", "server": "docs"}));
        assert_eq!(refreshed["ok"], true, "{refreshed}");
    };
    let die = |session: &mut Session| {
        session.send(r#"{"id":"d","op":"call","server":"docs","tool":"die"}"#);
        assert_eq!(session.answer("d")["error"]["code"], "transport_closed");
        session.event("reconnected");
    };
    let changed = Some("catalog_changed");
    let typed = json!([{"name": "search", "description": "finds", "inputSchema": {"type": "object", "required": ["q"]}}]);
    check(&typed, refresh, changed, "its schema");
    check(
        &json!([tool("search", "deletes")]),
        refresh,
        changed,
        "its description",
    );
    check(
        &json!([tool("other", "helps")]),
        refresh,
        changed,
        "it is gone",
    );
    check(
        &json!([tool("search", "finds")]),
        refresh,
        None,
        "another is gone",
    );
    let more = json!([
        tool("new", "is new"),
        tool("search", "finds"),
        tool("other", "deletes")
    ]);
    check(&more, refresh, None, "others are new, or other");
    check(
        &json!([tool("search", "finds")]),
        die,
        Some("transport_closed"),
        "another connection",
    );
}
