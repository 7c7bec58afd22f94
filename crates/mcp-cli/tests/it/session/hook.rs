//! Hooks over JSON lines (H1).

use mcp_testkit::{Action, Rule, Script};
use serde_json::{Value, json};

use super::{Session, check_invalid};
use crate::program::scripted;

/// A server that answers `search` with this.
fn search(answer: Action) -> Script {
    Script::new()
        .tool_named("search")
        .rule(Rule::on_tool("search", [answer]))
}

const CALL: &str = r#"{"id":"c","op":"call","server":"docs","environment_id":"devbox","tool":"search","arguments":{"n":1e2}}"#;

/// Calls devbox's `search`, and replies like this to the hook before it.
#[track_caller]
fn check(reply: &Value, code: Option<&str>, why: &str) -> Value {
    let (local, local_entry) = scripted(&search(Action::Standard));
    let (devbox, devbox_entry) = scripted(&search(Action::Standard));
    let mut session = Session::of_two(&local_entry, &devbox_entry, &["hook_before"]);
    session.send(CALL);
    let hook = session.event("hook");
    assert_eq!(
        session.reply("hook_reply", &hook, reply)["ok"],
        true,
        "{why}"
    );
    let answer = session.answer("c");
    assert_eq!(answer["error"]["code"].as_str(), code, "{why}: {answer}");
    assert_eq!(session.end(), Some(0));
    assert_eq!(local.log().count_calls("search"), 0, "{why}");
    let sent = usize::from(code.is_none());
    assert_eq!(devbox.log().count_calls("search"), sent, "{why}");
    answer
}

/// H1: before a call, and after it.
#[test]
fn a_hook_sees_a_call_and_what_became_of_it() {
    let result =
        json!({"content": [], "isError": true, "structuredContent": {"error_code": "STALE"}});
    let (process, entry) = scripted(&search(Action::Result(result.clone())));
    let handlers = ["hook_before", "hook_after"];
    let mut session = Session::of_two(&entry, &entry, &handlers);
    session.send(CALL);
    let mut hook = session.event("hook");
    let of = json!({"event": "hook", "request": null, "server": "docs", "environment_id": "devbox", "tool": "search",
        "call": "c", "when": "before", "arguments": {"n": 100.0}});
    let first = hook.clone();
    hook["request"] = Value::Null;
    assert_eq!(hook, of);
    let replies = json!({"arguments": {"other": true}, "context": {"seen": 1}});
    assert_eq!(session.reply("hook_reply", &first, &replies)["ok"], true);

    let after = session.event("hook");
    assert_ne!(after["request"], first["request"]);
    assert_eq!(after["when"], "after");
    assert_eq!(after["arguments"], json!({"other": true}), "what was sent");
    assert_eq!(after["outcome"], "tool_error");
    assert_eq!(after["result"], result);
    assert_eq!(session.reply("hook_reply", &after, &json!({}))["ok"], true);
    let answer = session.answer("c");
    assert_eq!(answer["outcome"], "tool_error");
    assert_eq!(answer["context"], json!([{"seen": 1}]));
    assert_eq!(session.end(), Some(0));
    let messages = process.log().messages();
    let call = messages
        .iter()
        .find(|message| message["method"] == "tools/call");
    assert_eq!(
        call.expect("a call")["params"]["arguments"],
        json!({"other": true})
    );
}

/// H1
#[test]
fn a_hook_is_told_how_a_call_failed() {
    let error = Action::Error {
        code: -32_602,
        message: "no such page".to_owned(),
        data: Value::Null,
    };
    let (_process, entry) = scripted(&search(error));
    let mut session = Session::of_two(&entry, &entry, &["hook_after"]);
    session.send(CALL);
    let after = session.event("hook");
    assert_eq!(after["when"], "after");
    assert_eq!(after["outcome"], "rpc_error");
    assert_eq!(after["error"]["rpc"]["message"], "no such page", "{after}");
    session.reply("hook_reply", &after, &json!({}));
    assert_eq!(session.answer("c")["error"]["code"], "protocol_error");
    assert_eq!(session.end(), Some(0));
}

/// H1
#[test]
fn a_hook_that_names_another_environment_or_server_is_rejected() {
    let blocked = Some("blocked");
    for (reply, code, why) in [
        (
            json!({"environment_id": "local"}),
            blocked,
            "another environment",
        ),
        (
            json!({"environment_id": "nowhere"}),
            blocked,
            "one that is none",
        ),
        (json!({"server": "wiki"}), blocked, "another server"),
        (
            json!({"server": "docs", "environment_id": "local", "arguments": {}}),
            blocked,
            "another environment's namesake",
        ),
        (
            json!({"environment_id": "devbox"}),
            None,
            "its own environment",
        ),
        (json!({"server": "docs"}), None, "its own server"),
        (
            json!({"server": "docs", "environment_id": "devbox"}),
            None,
            "both",
        ),
    ] {
        let answer = check(&reply, code, why);
        if code.is_some() {
            assert_eq!(answer["error"]["outcome"], "refused");
            let message = answer["error"]["message"].as_str().expect("a message");
            assert!(message.contains("may not move the call there"), "{message}");
        }
    }
}

/// H1
#[test]
fn a_hook_denies_a_call_or_spoils_it() {
    let denied = check(
        &json!({"deny": "not today", "context": [1]}),
        Some("blocked"),
        "denied",
    );
    let message = denied["error"]["message"].as_str().expect("a message");
    assert!(message.contains("not today"), "{message}");
    assert_eq!(denied["error"]["context"], json!([[1]]));
    check(
        &json!({"arguments": [1]}),
        Some("invalid_request"),
        "no object",
    );
}

/// B3: the time of a hook is the call's.
#[test]
fn a_hook_that_nobody_answers_runs_into_the_calls_time() {
    let (process, entry) = scripted(&search(Action::Standard));
    let mut session = Session::of_two(&entry, &entry, &["hook_before"]);
    let mut call: Value = serde_json::from_str(CALL).expect("JSON");
    call["timeout_ms"] = json!(300);
    assert_eq!(session.ask(&call)["error"]["code"], "request_timeout");
    let hook = session.event("hook");
    let late = session.reply("hook_reply", &hook, &json!({}));
    check_invalid(&late, "is not open");
    assert_eq!(session.end(), Some(0));
    assert_eq!(process.log().count_calls("search"), 0);
}

#[test]
fn a_hook_reply_that_is_wrong_leaves_the_hook_open() {
    let (_process, entry) = scripted(&search(Action::Standard));
    let mut session = Session::of_two(&entry, &entry, &["hook_before"]);
    session.send(CALL);
    let hook = session.event("hook");
    let mut reply = |op: &str, members: Value| session.reply(op, &hook, &members);
    check_invalid(&reply("hook_reply", json!({"environment_id": ""})), "empty");
    check_invalid(&reply("hook_reply", json!({"deny": 7})), "cannot be read");
    check_invalid(&reply("access_reply", json!({})), "is not open");
    let approval = reply("approval_reply", json!({"decision": "once"}));
    check_invalid(&approval, "is not open");
    assert_eq!(reply("hook_reply", json!({}))["ok"], true);
    check_invalid(&reply("hook_reply", json!({})), "is not open");
    assert_eq!(session.answer("c")["outcome"], "ok");
    assert_eq!(session.end(), Some(0));
}

/// B4
#[test]
fn a_hook_is_dropped_with_its_call() {
    let (process, entry) = scripted(&search(Action::Standard));
    let mut session = Session::of_two(&entry, &entry, &["hook_before"]);
    session.send(CALL);
    let hook = session.event("hook");
    session.ask(&json!({"id": "x", "op": "cancel", "target": "c"}));
    assert_eq!(session.answer("c")["error"]["code"], "cancelled");
    check_invalid(
        &session.reply("hook_reply", &hook, &json!({})),
        "is not open",
    );
    assert_eq!(session.end(), Some(0));
    assert_eq!(process.log().count_calls("search"), 0);
}
