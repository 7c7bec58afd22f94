//! Elicitations in a session: who runs it is who is asked (E1).

use mcp_testkit::{Action, Rule, Script, ServerLog, ServerProcess};
use serde_json::{Value, json};

use crate::program::scripted;
use crate::session::{Session, check_invalid, wait};

fn form() -> Value {
    json!({"message": "who?", "requestedSchema": {"type": "object"}})
}

fn ask(params: Value) -> Action {
    Action::Ask {
        method: "elicitation/create".to_owned(),
        params,
    }
}

/// A server whose tool asks this before it answers.
fn curious(params: Value) -> Script {
    let rule = Rule::on_tool("ask", [ask(params), Action::Standard]);
    Script::new().tool_named("ask").rule(rule)
}

/// A session with a runtime that may ask, and with this server.
fn started(script: &Script) -> (Session, ServerProcess) {
    let (process, entry) = scripted(script);
    let mut session = Session::open();
    let start =
        json!({"id": "start", "op": "start", "elicitation": true, "servers": {"curious": entry}});
    let answer = session.ask(&start);
    assert_eq!(answer["ok"], true, "{answer}");
    (session, process)
}

const CALL: &str = r#"{"id":"c","op":"call","server":"curious","tool":"ask"}"#;

fn asked(session: &mut Session) -> Value {
    session.wait(|line| line["event"] == "elicitation")
}

/// Waits until the server has this answer to its request.
fn answered(log: &ServerLog, result: &str) {
    wait(async {
        let answer = || {
            let mut lines = log.lines().into_iter();
            lines.find(|line| line.contains(r#""id":"server-1","#))
        };
        while answer().is_none() {
            // Nothing tells when another process has written.
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        let expected = format!(r#""result":{result}}}"#);
        let answer = answer().expect("it was just there");
        assert!(answer.contains(&expected), "{answer}");
    });
}

/// Waits until the elicitation is open no more; a reply is then told so.
fn closed(session: &mut Session, elicitation: &Value) {
    // As long as it is open, this reply is wrong for another reason.
    let reply = json!({"id": "late", "op": "elicit_reply", "elicitation": elicitation, "action": "accept", "content": []});
    let mut answer = session.ask(&reply);
    while answer["error"]["message"] == "the content of an answer must be a JSON object" {
        answer = session.ask(&reply);
    }
    check_invalid(&answer, "is not open");
}

#[track_caller]
fn check(params: Value, event: &Value, reply: &str, result: &str) {
    let (mut session, process) = started(&curious(params));
    session.send(CALL);
    let mut asked = asked(&mut session);
    let elicitation = asked["elicitation"].take();
    let mut expected = json!({"event": "elicitation", "elicitation": null, "server": "curious", "call": "c", "permissions": {"elicitation": "ask"}});
    for (name, member) in event.as_object().expect("members") {
        expected[name] = member.clone();
    }
    assert_eq!(asked, expected);
    session.send(&format!(
        r#"{{"id":"r","op":"elicit_reply","elicitation":{elicitation},{reply}}}"#
    ));
    assert_eq!(session.answer("r"), json!({"id": "r", "ok": true}));
    assert_eq!(session.answer("c")["outcome"], "ok");
    answered(&process.log(), result);
    assert_eq!(session.end(), Some(0));
}

/// E1, W1: to the spelling of numbers.
#[test]
fn a_reply_reaches_the_server_as_it_is_written() {
    let asked = json!({"mode": "form", "message": "who?", "schema": {"type": "object"}});
    let content = r#"{"z":1e2,"n":123456789012345678901234567890,"a":0.10}"#;
    let accept = format!(r#""action":"accept","content":{content}"#);
    let accepted = format!(r#"{{"action":"accept","content":{content}}}"#);
    check(form(), &asked, &accept, &accepted);
    check(
        form(),
        &asked,
        r#""action":"decline""#,
        r#"{"action":"decline"}"#,
    );
    check(
        form(),
        &asked,
        r#""action":"cancel""#,
        r#"{"action":"cancel"}"#,
    );
    let page = json!({"mode": "url", "message": "pay", "url": "https://pay.example/1", "elicitationId": "e"});
    let asked = json!({"mode": "url", "message": "pay", "url": "https://pay.example/1"});
    check(
        page,
        &asked,
        r#""action":"accept""#,
        r#"{"action":"accept"}"#,
    );
}

#[test]
fn a_reply_that_is_wrong_leaves_the_elicitation_open() {
    let (mut session, process) = started(&curious(form()));
    session.send(CALL);
    let id = asked(&mut session)["elicitation"].take();
    let mut number = 0;
    let mut reply = |members: Value| {
        number += 1;
        let mut reply = json!({"id": number.to_string(), "op": "elicit_reply", "elicitation": id});
        for (name, member) in members.as_object().expect("members") {
            reply[name] = member.clone();
        }
        session.ask(&reply)
    };
    check_invalid(
        &reply(json!({"elicitation": 999, "action": "accept"})),
        "elicitation 999 is not open",
    );
    check_invalid(
        &reply(json!({"elicitation": "1", "action": "accept"})),
        "cannot be read",
    );
    check_invalid(&reply(json!({"action": "shrug"})), "cannot be read");
    check_invalid(&reply(json!({})), "missing field `action`");
    check_invalid(
        &reply(json!({"action": "accept", "content": []})),
        "must be a JSON object",
    );
    assert_eq!(
        reply(json!({"action": "accept", "content": {}}))["ok"],
        true
    );
    check_invalid(&reply(json!({"action": "accept"})), "is not open");
    assert_eq!(session.answer("c")["outcome"], "ok");
    answered(&process.log(), r#"{"action":"accept","content":{}}"#);
    assert_eq!(session.end(), Some(0));
}

/// B4
#[test]
fn an_elicitation_is_dropped_with_its_call() {
    let (mut session, process) = started(&curious(form()));
    session.send(CALL);
    let id = asked(&mut session)["elicitation"].take();
    session.ask(&json!({"id": "x", "op": "cancel", "target": "c"}));
    assert_eq!(session.answer("c")["error"]["code"], "cancelled");
    closed(&mut session, &id);
    answered(&process.log(), r#"{"action":"cancel"}"#);
    assert_eq!(session.end(), Some(0));
}

/// R10
#[test]
fn an_elicitation_is_dropped_with_its_server() {
    let script = curious(form()).tool_named("die");
    let (mut session, _process) = started(&script.rule(Rule::on_tool("die", [Action::Exit(3)])));
    session.send(CALL);
    let id = asked(&mut session)["elicitation"].take();
    session.send(r#"{"id":"d","op":"call","server":"curious","tool":"die"}"#);
    assert_eq!(session.answer("c")["error"]["code"], "transport_closed");
    closed(&mut session, &id);
    assert_eq!(session.end(), Some(0));
}

/// R11: and those of another runtime stay.
#[test]
fn an_elicitation_is_dropped_with_its_runtime() {
    let (mut session, process) = started(&curious(form()));
    let (_other, entry) = scripted(&curious(form()));
    let start = json!({"id": "s", "op": "start", "runtime": "second", "elicitation": true, "servers": {"curious": entry}});
    assert_eq!(session.ask(&start)["ok"], true);
    session.send(CALL);
    let first =
        session.wait(|line| line["event"] == "elicitation" && line.get("runtime").is_none());
    session.send(r#"{"id":"c2","op":"call","runtime":"second","server":"curious","tool":"ask"}"#);
    let second = session.wait(|line| line["event"] == "elicitation" && line["runtime"] == "second");
    assert_eq!(second["call"], "c2");
    assert_ne!(first["elicitation"], second["elicitation"]);
    session.ask(&json!({"id": "e", "op": "shutdown", "runtime": "second"}));
    closed(&mut session, &second["elicitation"]);
    let reply = json!({"id": "r", "op": "elicit_reply", "elicitation": first["elicitation"], "action": "decline"});
    assert_eq!(session.ask(&reply)["ok"], true);
    assert_eq!(session.answer("c")["outcome"], "ok");
    answered(&process.log(), r#"{"action":"decline"}"#);
    assert_eq!(session.end(), Some(0));
}

/// E1: some servers ask before they answer.
#[test]
fn a_server_may_ask_while_its_start_is_pending() {
    let script = Script::new().rule(Rule::on("initialize", [ask(form()), Action::Standard]));
    let (_process, entry) = scripted(&script);
    let mut session = Session::open();
    let start =
        json!({"id": "s", "op": "start", "elicitation": true, "servers": {"curious": entry}});
    session.send(&start.to_string());
    let asked = asked(&mut session);
    assert_eq!(asked.get("call"), None, "{asked}");
    let reply = json!({"id": "r", "op": "elicit_reply", "elicitation": asked["elicitation"], "action": "decline"});
    assert_eq!(session.ask(&reply)["ok"], true);
    assert_eq!(session.answer("s")["servers"][0]["status"], "ready");
    assert_eq!(session.end(), Some(0));
}

/// E1: what was not offered is declined, and nobody is bothered.
#[test]
fn a_session_without_elicitation_is_not_asked() {
    let (process, entry) = scripted(&curious(form()));
    let mut session = Session::open();
    session.ask(&json!({"id": "s", "op": "start", "servers": {"curious": entry}}));
    session.send(CALL);
    let line = session.wait(|line| line["event"] == "elicitation" || line["id"] == "c");
    assert_eq!(line["outcome"], "ok", "{line}");
    answered(&process.log(), r#"{"action":"decline"}"#);
    assert_eq!(session.end(), Some(0));
}
