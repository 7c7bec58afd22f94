//! The access lookup over JSON lines (L1).

use mcp_testkit::{Script, ServerProcess};
use serde_json::{Value, json};

use super::Session;
use crate::program::scripted;

const CALL: &str = r#"{"id":"c","op":"call","server":"docs","environment_id":"devbox","tool":"search","meta":{"x/user":"eve","x/kept":1},"timeout_ms":5000}"#;

/// Calls devbox's `search`, and replies like this about its access.
#[track_caller]
fn called(reply: &Value) -> (Value, ServerProcess) {
    let (process, entry) = scripted(&Script::new().tool_named("search"));
    let mut session = Session::of_two(
        &json!({"command": "x", "enabled": false}),
        &entry,
        &["access"],
    );
    session.send(CALL);
    let mut asked = session.event("access");
    assert_eq!(session.reply("access_reply", &asked, reply)["ok"], true);
    asked["request"] = Value::Null;
    let expected = json!({"event": "access", "request": null, "server": "docs", "environment_id": "devbox", "tool": "search", "call": "c"});
    assert_eq!(asked, expected);
    let answer = session.answer("c");
    assert_eq!(session.end(), Some(0));
    (answer, process)
}

/// L1, S6
#[test]
fn a_lookup_adds_to_what_a_server_is_told() {
    let meta = json!({"x/user": "ada", "codex/sandbox-state": 1, "traceparent": "00"});
    let (answer, process) = called(&json!({"meta": meta}));
    assert_eq!(answer["outcome"], "ok");
    let messages = process.log().messages();
    let call = messages
        .iter()
        .find(|message| message["method"] == "tools/call");
    let mut meta = call.expect("a call")["params"]["_meta"].clone();
    meta.as_object_mut()
        .expect("an object")
        .remove("progressToken");
    assert_eq!(meta, json!({"x/user": "ada", "x/kept": 1}));
}

/// L1
#[test]
fn a_call_without_access_is_not_sent() {
    for (reply, code, outcome) in [
        (json!({"refuse": "off duty"}), "blocked", "refused"),
        (json!({"meta": [1]}), "invalid_request", "invalid_request"),
    ] {
        let (answer, process) = called(&reply);
        assert_eq!(answer["error"]["code"], code, "{answer}");
        assert_eq!(answer["error"]["outcome"], outcome);
        assert_eq!(process.log().count_calls("search"), 0);
    }
}

/// L1, B3: the lookup comes late, and nothing was sent.
#[test]
fn a_lookup_that_takes_too_long_is_a_timeout_like_any_other() {
    let (process, entry) = scripted(&Script::new().tool_named("search"));
    let mut session = Session::of_two(&entry, &entry, &["access"]);
    let mut call: Value = serde_json::from_str(CALL).expect("JSON");
    call["timeout_ms"] = json!(300);
    let answer = session.ask(&call);
    assert_eq!(answer["error"]["code"], "request_timeout", "{answer}");
    assert_eq!(answer["error"]["outcome"], "timeout");
    let message = answer["error"]["message"].as_str().expect("a message");
    assert!(message.ends_with("timed out after 0.3 s"), "{message}");
    let asked = session.event("access");
    assert_eq!(
        session.reply("access_reply", &asked, &json!({}))["ok"],
        false
    );
    assert_eq!(session.end(), Some(0));
    assert_eq!(process.log().count_calls("search"), 0);
}
