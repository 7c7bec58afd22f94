//! Approvals over JSON lines (A1).

use mcp_testkit::{Rule, Script};
use serde_json::{Value, json};

use super::Session;
use crate::program::scripted;

fn call(environment: &str) -> Value {
    json!({"id": "c", "op": "call", "server": "docs", "environment_id": environment, "tool": "search", "arguments": {"n": 1}})
}

/// A1: how often one is asked, for one environment and its namesake in the other.
#[test]
fn an_approval_is_for_one_environment_and_as_long_as_it_says() {
    for (decision, asked) in [
        ("once", [true, true, true, true]),
        ("session", [true, false, true, false]),
        ("always", [true, false, true, false]),
    ] {
        let (process, entry) = scripted(&Script::new().tool_named("search"));
        let mut session = Session::of_two(&entry, &entry, &["approval"]);
        for (environment, asks) in ["local", "local", "devbox", "devbox"]
            .into_iter()
            .zip(asked)
        {
            session.send(&call(environment).to_string());
            let next = session.wait(|line| line["event"] == "approval" || line["id"] == "c");
            assert_eq!(next["event"] == "approval", asks, "{decision}: {next}");
            if !asks {
                assert_eq!(next["outcome"], "ok");
                continue;
            }
            assert_eq!(next["environment_id"], environment);
            assert_eq!(next["arguments"], json!({"n": 1}));
            let digest = next["definition_digest"].as_str().expect("a text");
            assert_eq!(digest.len(), 64, "{digest}");
            let reply = json!({"decision": decision});
            assert_eq!(session.reply("approval_reply", &next, &reply)["ok"], true);
            assert_eq!(session.answer("c")["outcome"], "ok");
        }
        assert_eq!(session.end(), Some(0));
        assert_eq!(process.log().count_calls("search"), 4, "{decision}");
    }
}

/// A1
#[test]
fn a_call_that_is_not_approved_is_not_sent() {
    let (process, entry) = scripted(&Script::new().tool_named("search"));
    let mut session = Session::of_two(&entry, &entry, &["approval"]);
    session.send(&call("local").to_string());
    let asked = session.event("approval");
    session.reply("approval_reply", &asked, &json!({"decision": "deny"}));
    let answer = session.answer("c");
    assert_eq!(answer["error"]["code"], "blocked", "{answer}");
    assert_eq!(session.end(), Some(0));
    assert_eq!(process.log().count_calls("search"), 0);
}

/// B3: another call, which nobody answers, tells that more time has gone by than the first one has.
#[test]
fn the_time_of_an_approval_is_not_the_calls() {
    let script = Script::new().tool_named("mute").tool_named("search");
    let (_process, mut entry) = scripted(&script.rule(Rule::on_tool("mute", [])));
    entry["tool_approval"] = json!({"mute": "approve"});
    let mut session = Session::of_two(&entry, &entry, &["approval"]);
    let mut waiting = call("local");
    waiting["timeout_ms"] = json!(500);
    session.send(&waiting.to_string());
    let asked = session.event("approval");
    let mute = json!({"id": "m", "op": "call", "server": "docs", "environment_id": "devbox", "tool": "mute", "timeout_ms": 1000});
    assert_eq!(session.ask(&mute)["error"]["code"], "request_timeout");
    session.reply("approval_reply", &asked, &json!({"decision": "once"}));
    let answer = session.answer("c");
    assert_eq!(answer["outcome"], "ok", "{answer}");
    assert_eq!(session.end(), Some(0));
}

/// A1: without the handler whoever runs the session has authority over what it asks for, and modes still refine it.
#[test]
fn a_mode_decides_where_nobody_is_asked() {
    for (mode, code) in [
        (Value::Null, None),
        (json!("approve"), None),
        (json!("deny"), Some("blocked")),
        (json!("prompt"), Some("blocked")),
        (json!("auto"), Some("blocked")),
    ] {
        let (process, mut entry) = scripted(&Script::new().tool_named("search"));
        entry["approval"] = mode.clone();
        let mut session = Session::of_two(&entry, &entry, &[]);
        let answer = session.ask(&call("local"));
        assert_eq!(answer["error"]["code"].as_str(), code, "{mode}: {answer}");
        assert_eq!(session.end(), Some(0));
        let sent = usize::from(code.is_none());
        assert_eq!(process.log().count_calls("search"), sent, "{mode}");
    }
}
