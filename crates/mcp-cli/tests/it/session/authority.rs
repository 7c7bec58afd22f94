//! Sandbox state and launcher over JSON lines (S2, S4, S8).

use mcp_testkit::{Handshake, Script, ServerProcess};
use serde_json::{Value, json};

use super::{Session, check_invalid};
use crate::program::scripted;

/// A server that opted in, with a tool `t`.
fn opted_in() -> (ServerProcess, Value) {
    let capabilities = json!({"tools": {}, "experimental": {"codex/sandbox-state": {}}});
    let handshake = Handshake::new().capabilities(capabilities);
    scripted(&Script::new().handshake(handshake).tool_named("t"))
}

/// The state and the launcher of every call, as its server was told them.
fn told(process: &ServerProcess) -> Vec<(Value, Value)> {
    let messages = process.log().messages();
    let calls = messages
        .iter()
        .filter(|message| message["method"] == "tools/call");
    let meta = calls.map(|call| call["params"]["_meta"].clone());
    let told = meta.map(|meta| {
        let launcher = &meta["codex/sandbox-launcher"]["codexExecutable"];
        (meta["codex/sandbox-state"].clone(), launcher.clone())
    });
    told.collect()
}

#[track_caller]
fn ask(session: &mut Session, request: &Value) {
    let answer = session.ask(request);
    assert_eq!(answer["ok"], true, "{answer}");
}

const CALL: &str = r#"{"id":"c","op":"call","server":"docs","tool":"t"}"#;

#[track_caller]
fn call(session: &mut Session) {
    ask(session, &serde_json::from_str(CALL).expect("JSON"));
}

/// What the one call of a server of the primary environment names as the launcher, after this `start`.
#[track_caller]
fn check(start: &Value, launcher: &Value, why: &str) {
    let (process, entry) = opted_in();
    let mut start = start.clone();
    start["id"] = json!("s");
    start["op"] = json!("start");
    start["servers"] = json!({"docs": entry});
    let mut session = Session::open();
    ask(&mut session, &start);
    if start.get("environments").is_none() {
        let change = json!({"id": "e", "op": "set_environment", "environment_id": "local", "sandbox_state": 0});
        ask(&mut session, &change);
    }
    call(&mut session);
    assert_eq!(session.end(), Some(0));
    assert_eq!(told(&process), [(json!(0), launcher.clone())], "{why}");
}

#[test]
fn the_launcher_of_start_is_that_of_every_environment_that_says_nothing_else() {
    let of = |environment: Value| {
        let mut environment = environment;
        environment["id"] = json!("a");
        environment["sandbox_state"] = json!(0);
        json!({"launcher": "/bin/true", "environments": [environment]})
    };
    let none = Value::Null;
    check(
        &json!({"launcher": "/bin/true"}),
        &json!("/bin/true"),
        "the environment that is always there",
    );
    check(&json!({}), &none, "nobody names one");
    check(&json!({"launcher": null}), &none, "nor here");
    check(&of(json!({})), &json!("/bin/true"), "it says nothing");
    check(
        &of(json!({"launcher": "/bin/echo"})),
        &json!("/bin/echo"),
        "it has its own",
    );
    check(&of(json!({"launcher": null})), &none, "it has none");
    check(
        &json!({"launcher": "bin/true"}),
        &none,
        "not absolute: left out",
    );
    check(
        &json!({"launcher": "/bin/false"}),
        &none,
        "no launcher: left out",
    );
}

#[test]
fn set_environment_changes_and_takes_away_the_launcher() {
    let (process, entry) = opted_in();
    let mut session = Session::open();
    let environments = json!([{"id": "a", "sandbox_state": 0, "servers": {"docs": entry}}]);
    ask(
        &mut session,
        &json!({"id": "s", "op": "start", "launcher": "/bin/true", "environments": environments}),
    );
    call(&mut session);
    for change in [
        json!({"launcher": "/bin/echo", "sandbox_state": 1}),
        json!({"sandbox_state": 2}),
        json!({"launcher": null}),
        json!({"sandbox_state": null, "launcher": "/bin/true"}),
    ] {
        let mut change = change;
        change["id"] = json!("e");
        change["op"] = json!("set_environment");
        change["environment_id"] = json!("a");
        ask(&mut session, &change);
        call(&mut session);
    }
    for (wrong, message) in [
        (json!({"launcher": 7}), "`set_environment` cannot be read"),
        (
            json!({"launcher": ["/bin/true"]}),
            "`set_environment` cannot be read",
        ),
        (
            json!({"environment_id": "moon", "launcher": null}),
            "no environment `moon`",
        ),
    ] {
        let mut change = json!({"id": "e", "op": "set_environment", "environment_id": "a"});
        for (name, value) in wrong.as_object().expect("members") {
            change[name] = value.clone();
        }
        check_invalid(&session.ask(&change), message);
    }
    assert_eq!(session.end(), Some(0));
    let told = told(&process);
    let expected = [
        (json!(0), json!("/bin/true")),
        (json!(1), json!("/bin/echo")),
        (json!(2), json!("/bin/echo")),
        (json!(2), Value::Null),
        (Value::Null, Value::Null),
    ];
    assert_eq!(told, expected);
}

/// S8: what a request finds is what there was when its line was read, however soon the next one comes.
#[test]
fn a_call_is_made_under_the_authority_that_its_line_found() {
    const CALLS: u64 = 40;
    let (process, entry) = opted_in();
    let mut session = Session::open();
    ask(
        &mut session,
        &json!({"id": "s", "op": "start", "servers": {"docs": entry}}),
    );
    let mut lines = Vec::new();
    for number in 0..CALLS {
        let change = json!({"id": format!("e{number}"), "op": "set_environment", "environment_id": "local", "sandbox_state": number});
        let call = json!({"id": format!("c{number}"), "op": "call", "server": "docs", "tool": "t", "meta": {"number": number}});
        lines.extend([change.to_string(), call.to_string()]);
    }
    session.send(&lines.join("\n"));
    for number in 0..CALLS {
        assert_eq!(session.answer(&format!("c{number}"))["ok"], true);
    }
    assert_eq!(session.end(), Some(0));
    let messages = process.log().messages();
    let calls = messages
        .iter()
        .filter(|message| message["method"] == "tools/call");
    let mut count = 0;
    for call in calls {
        let meta = &call["params"]["_meta"];
        assert_eq!(meta["codex/sandbox-state"], meta["number"]);
        count += 1;
    }
    assert_eq!(count, CALLS);
}
