//! Which environments are selected, over JSON lines (B1, K7, K8).

use mcp_testkit::{Action, Rule, Script, ServerProcess};
use serde_json::{Value, json};

use super::{Session, check_invalid};
use crate::program::scripted;

/// A server whose tool answers with the place it runs in.
fn docs(place: &str) -> (ServerProcess, Value) {
    let answer = json!({"content": [{"type": "text", "text": place}]});
    let script = Script::new().tool_named("where");
    scripted(&script.rule(Rule::on_tool("where", [Action::Result(answer)])))
}

/// A session with the environments `a`, selected, and `b`, not selected.
fn started(feature: bool) -> (Session, [ServerProcess; 2]) {
    let ((a, of_a), (b, of_b)) = (docs("a"), docs("b"));
    let mut session = Session::open();
    let start = json!({"id": "start", "op": "start", "features": {"multi_environment_mcp": feature}, "environments": [
        {"id": "a", "servers": {"docs": of_a}},
        {"id": "b", "selected": false, "servers": {"docs": of_b}},
    ]});
    let answer = session.ask(&start);
    assert_eq!(answer["ok"], true, "{answer}");
    (session, [a, b])
}

fn set(session: &mut Session, members: Value) -> Value {
    let mut request = members;
    request["id"] = json!("set");
    request["op"] = json!("set_environment");
    session.ask(&request)
}

/// Where a call of `docs` that does not say of which environment arrives; otherwise the error.
fn place(session: &mut Session) -> Value {
    let call = json!({"id": "call", "op": "call", "server": "docs", "tool": "where"});
    let answer = session.ask(&call);
    match answer["ok"].as_bool() {
        Some(true) => answer["result"]["content"][0]["text"].clone(),
        _ => answer["error"].clone(),
    }
}

/// B1, K7
#[test]
fn a_selection_is_seen_by_what_is_captured_later() {
    let (mut session, _processes) = started(true);
    let before = session.ask(&json!({"id": "0", "op": "capture"}))["binding"].clone();
    assert_eq!(
        set(
            &mut session,
            json!({"environment_id": "b", "selected": true})
        )["ok"],
        true
    );
    session.wait(|line| line["event"] == "ready" && line["environment_id"] == "b");
    let vague = place(&mut session);
    assert_eq!(vague["code"], "invalid_request", "{vague}");
    assert_eq!(
        vague["candidates"].as_array().map(Vec::len),
        Some(2),
        "{vague}"
    );
    assert_eq!(
        set(
            &mut session,
            json!({"environment_id": "a", "selected": false})
        )["ok"],
        true
    );
    assert_eq!(place(&mut session), "b");
    let prepare =
        json!({"id": "1", "op": "prepare", "binding": before, "server": "docs", "tool": "where"});
    let call = session.ask(&prepare)["call"].clone();
    let answer = session.ask(&json!({"id": "2", "op": "execute", "call": call}));
    assert_eq!(
        answer["result"]["content"][0]["text"], "a",
        "captured before"
    );
    assert_eq!(session.end(), Some(0));
}

/// B1
#[test]
fn a_capture_selects_for_itself() {
    let (mut session, _processes) = started(true);
    let capture = |session: &mut Session, environments: Value| {
        session.ask(&json!({"id": "c", "op": "capture", "environments": environments}))
    };
    let first = capture(&mut session, json!(["b"]));
    assert_eq!(
        first["tools"],
        json!([]),
        "it has only begun to start: {first}"
    );
    session.wait(|line| line["event"] == "ready" && line["environment_id"] == "b");
    let owners = |answer: &Value| {
        let tools = answer["tools"].as_array().expect("tools").iter();
        tools
            .map(|tool| tool["environment_id"].clone())
            .collect::<Vec<_>>()
    };
    let alone = capture(&mut session, json!(["b"]));
    assert_eq!(owners(&alone), ["b"]);
    assert_eq!(
        owners(&capture(&mut session, json!(["b", "a"]))),
        ["a", "b"]
    );
    assert_eq!(
        owners(&session.ask(&json!({"id": "c", "op": "capture"}))),
        ["a"]
    );
    let prepare = json!({"id": "p", "op": "prepare", "binding": alone["binding"], "server": "docs", "tool": "where"});
    assert_eq!(
        session.ask(&prepare)["ok"],
        true,
        "there is only one it could be"
    );
    check_invalid(
        &capture(&mut session, json!(["moon"])),
        "there is no environment `moon`",
    );
    check_invalid(&capture(&mut session, json!([])), "select one at least");
    check_invalid(&capture(&mut session, json!(["a", "a"])), "selected twice");
    assert_eq!(session.end(), Some(0));
}

/// K8
#[test]
fn without_the_feature_the_first_selected_environment_is_exposed() {
    let (mut session, _processes) = started(false);
    assert_eq!(place(&mut session), "a");
    assert_eq!(
        set(
            &mut session,
            json!({"environment_id": "b", "selected": true})
        )["ok"],
        true
    );
    assert_eq!(place(&mut session), "a");
    assert_eq!(
        set(
            &mut session,
            json!({"environment_id": "a", "selected": false})
        )["ok"],
        true
    );
    session.wait(|line| {
        line["event"] == "ready" && line.get("environment_id").is_none() && line["server"] == "docs"
    });
    let mut seen = place(&mut session);
    while seen["code"] == "transport_closed" {
        // The first `ready` was that of the other one.
        seen = place(&mut session);
    }
    assert_eq!(seen, "b");
    assert_eq!(session.end(), Some(0));
}

/// Nothing is changed by what is refused.
#[test]
fn a_change_that_cannot_be_is_refused() {
    let (mut session, _processes) = started(true);
    let rows = [
        (
            json!({"environment_id": "moon"}),
            "there is no environment `moon`",
        ),
        (
            json!({"environment_id": "moon", "selected": true}),
            "there is no environment `moon`",
        ),
        (
            json!({"environment_id": "a", "selected": false}),
            "select one at least",
        ),
        (
            json!({"environment_id": "a", "selected": "yes"}),
            "cannot be read",
        ),
        (
            json!({"environment_id": "a", "permissions": {"elicitation": "maybe"}}),
            "cannot be read",
        ),
        (
            json!({"environment_id": "a", "permissions": {"network": true}}),
            "unknown field `network`",
        ),
        (json!({"selected": true}), "missing field `environment_id`"),
    ];
    for (members, message) in rows {
        check_invalid(&set(&mut session, members), message);
    }
    assert_eq!(place(&mut session), "a");
    assert_eq!(session.end(), Some(0));
}
