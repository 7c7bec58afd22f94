//! Under which permissions a server asks, over JSON lines (E1).

use mcp_testkit::{Action, Rule, Script, ServerProcess};
use serde_json::{Value, json};

use super::Session;
use crate::program::scripted;

/// A server whose tool `ask` asks before it answers.
fn curious() -> (ServerProcess, Value) {
    let ask = Action::Ask {
        method: "elicitation/create".to_owned(),
        params: json!({"message": "who?", "requestedSchema": {"type": "object"}}),
    };
    let script = Script::new().tool_named("ask");
    scripted(&script.rule(Rule::on_tool("ask", [ask, Action::Standard])))
}

/// Calls `ask` of an environment, and accepts if that is asked; the permissions that were shown.
#[track_caller]
fn ask(session: &mut Session, environment: Option<&str>) -> Option<Value> {
    let mut call = json!({"id": "c", "op": "call", "server": "docs", "tool": "ask"});
    if let Some(environment) = environment {
        call["environment_id"] = json!(environment);
    }
    session.send(&call.to_string());
    let line = session.wait(|line| line["event"] == "elicitation" || line["id"] == "c");
    if line["event"] != "elicitation" {
        assert_eq!(line["outcome"], "ok", "{line}");
        return None;
    }
    assert_eq!(line["environment_id"].as_str(), environment, "{line}");
    let reply = json!({"id": "r", "op": "elicit_reply", "elicitation": line["elicitation"], "action": "accept"});
    assert_eq!(session.ask(&reply)["ok"], true);
    assert_eq!(session.answer("c")["outcome"], "ok");
    Some(line["permissions"].clone())
}

/// E1, S8
#[test]
fn a_server_asks_under_the_permissions_of_the_environment_that_owns_it() {
    let [(_own, own), (_local, local), (_devbox, devbox)] = [(); 3].map(|()| curious());
    let mut session = Session::open();
    let start = json!({"id": "s", "op": "start", "elicitation": true, "features": {"multi_environment_mcp": true}, "servers": {"docs": own}, "environments": [
        {"id": "local", "permissions": {"elicitation": "decline"}, "servers": {"docs": local}},
        {"id": "devbox", "sandbox_state": {"of": "devbox"}, "servers": {"docs": devbox}},
    ]});
    let answer = session.ask(&start);
    assert_eq!(answer["ok"], true, "{answer}");
    let asks = json!({"elicitation": "ask"});
    let asks_in_devbox = json!({"elicitation": "ask", "sandbox_state": {"of": "devbox"}});
    assert_eq!(ask(&mut session, Some("local")), None);
    assert_eq!(ask(&mut session, None), None, "the primary one declines");
    assert_eq!(ask(&mut session, Some("devbox")), Some(asks_in_devbox));
    let set = |session: &mut Session, environment: &str, policy: &str| {
        let set = json!({"id": "set", "op": "set_environment", "environment_id": environment, "permissions": {"elicitation": policy}});
        assert_eq!(session.ask(&set), json!({"id": "set", "ok": true}));
    };
    set(&mut session, "local", "ask");
    set(&mut session, "devbox", "decline");
    assert_eq!(ask(&mut session, Some("local")), Some(asks.clone()));
    assert_eq!(ask(&mut session, None), Some(asks));
    assert_eq!(ask(&mut session, Some("devbox")), None);
    assert_eq!(session.end(), Some(0));
}
