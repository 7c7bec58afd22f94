//! Servers that are gone and come back, as a session tells it (R10).

use mcp_testkit::{Action, Rule, Script};
use serde_json::{Value, json};

use super::{Session, wait};
use crate::program::scripted;

/// A server with the tool `echo`, and `die`, with which the first process ends while it is being called.
fn mortal() -> Script {
    let last = [Action::Stderr("out of memory".into()), Action::Exit(3)];
    let script = Script::new().tool_named("echo").tool_named("die");
    script.rule(Rule::on_tool("die", last).in_process(1))
}

impl Session {
    #[track_caller]
    fn call(&mut self, id: &str, name: &str) -> Value {
        self.ask(&json!({"id": id, "op": "call", "name": name}))
    }

    /// Ends the server by calling its tool `die`.
    #[track_caller]
    fn die(&mut self) {
        let answer = self.call("d", "mcp__docs__die");
        assert_eq!(answer["error"]["code"], "transport_closed", "{answer}");
        assert_eq!(answer["error"]["stderr_tail"], "out of memory", "{answer}");
    }

    /// The next event that says whether the server is there.
    #[track_caller]
    fn turn(&mut self) -> Value {
        let turns = ["ready", "disconnected", "reconnected", "catalog_changed"];
        self.wait(|line| turns.iter().any(|turn| line["event"] == *turn))
    }
}

/// R10
#[test]
fn a_server_that_died_is_back_for_the_next_call() {
    let tools = json!({"tools": [{"name": "echo"}]});
    let script = mortal();
    let script = script.rule(Rule::on("tools/list", [Action::Result(tools)]).in_process(2));
    let (process, entry) = scripted(&script);
    let mut session = Session::started(&json!({"docs": entry}));
    assert_eq!(session.turn()["event"], "ready");
    session.die();
    let lost = session.turn();
    assert_eq!(
        lost,
        json!({"event": "disconnected", "server": "docs", "message": "the server process exited with status 3", "stderr_tail": "out of memory", "reconnecting": true})
    );
    let mut back = session.turn();
    assert!(back["elapsed_ms"].take().is_u64(), "{back}");
    assert_eq!(
        back,
        json!({"event": "reconnected", "server": "docs", "tools": 1, "era": "legacy", "listing": "fetched", "elapsed_ms": null, "attempts": 1})
    );
    let changed = session.turn();
    assert_eq!(
        changed,
        json!({"event": "catalog_changed", "server": "docs", "tools": 1})
    );
    let answer = session.call("c", "mcp__docs__echo");
    assert_eq!(answer["outcome"], "ok", "{answer}");
    let status = session.ask(&json!({"id": "s", "op": "status"}));
    assert_eq!(status["servers"][0]["status"], "ready", "{status}");
    assert_eq!(process.log().count_calls("die"), 1, "nothing is repeated");
    assert_eq!(session.end(), Some(0));
    wait(process.log().expect_all_gone());
}

/// R10
#[test]
fn a_server_that_is_away_says_so() {
    let script = mortal().rule(Rule::on("initialize", []).in_process(2));
    let (process, entry) = scripted(&script);
    let mut session = Session::started(&json!({"docs": entry}));
    session.die();
    session.wait(|line| line["event"] == "disconnected");
    let away = "the server process exited with status 3; it is being reconnected";
    let status = session.ask(&json!({"id": "s", "op": "status"}));
    let server = &status["servers"][0];
    assert_eq!(server["status"], "failed", "{status}");
    assert_eq!(
        server["error"],
        json!({"code": "transport_closed", "outcome": "transport_error", "message": away, "stderr_tail": "out of memory"})
    );
    for request in [
        json!({"id": "n", "op": "call", "name": "mcp__docs__echo"}),
        json!({"id": "k", "op": "call", "server": "docs", "tool": "echo"}),
        json!({"id": "r", "op": "refresh", "server": "docs"}),
    ] {
        let error = session.ask(&request)["error"].take();
        assert_eq!(error["code"], "transport_closed", "{error}");
        assert_eq!(error["stderr_tail"], "out of memory", "{error}");
        let said = error["message"].as_str().expect("a message");
        assert!(said.ends_with(away), "{said}");
    }
    let tools = session.ask(&json!({"id": "t", "op": "tools"}));
    assert_eq!(tools["tools"], json!([]), "nothing of it is offered");
    wait(process.log().expect("initialize", 2));
    assert_eq!(
        session.ask(&json!({"id": "e", "op": "shutdown"}))["killed"],
        json!([])
    );
    assert_eq!(session.end(), Some(0));
    wait(process.log().expect_all_gone());
}
