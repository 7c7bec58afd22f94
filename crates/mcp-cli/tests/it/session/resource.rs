//! Resources over JSON lines (P1).

use mcp_testkit::{Action, Handshake, Rule, Script};
use serde_json::json;

use super::{Session, check_invalid, wait};
use crate::program::scripted;

/// A server that answers these requests with these results.
fn serving(answers: &[(&str, &str)]) -> Script {
    let capabilities = json!({"tools": {}, "resources": {}});
    let script = Script::new().handshake(Handshake::new().capabilities(capabilities));
    answers.iter().fold(script, |script, (method, result)| {
        let answer = Action::ResultRaw((*result).to_owned());
        script.rule(Rule::on(*method, [answer]).times(1))
    })
}

/// Asks for one thing after the other; how each is answered.
#[track_caller]
fn check(session: &mut Session, rows: &[(&str, &str)]) {
    for (request, answer) in rows {
        let members = request.strip_prefix('{').expect("an object");
        let written = session.ask_raw(&format!(r#"{{"id":"c",{members}"#));
        assert_eq!(
            written,
            format!(r#"{{"id":"c","ok":true,{answer}}}"#),
            "{request}"
        );
    }
}

/// P1, K2: the server's own objects, whole but for the members that say whose they are.
#[test]
fn resources_are_the_servers_own_objects_with_their_owner() {
    let pages = [
        r#"{"resources":[{"size":5e12,"uri":"mem://a","vendor":{"server":1,"x":1.0,"x":2}},{"server":"liar","uri":"b","environment_id":"moon"}],"nextCursor":"p\u00e9"}"#,
        r#"{"resources":[{"uri":"mem://c","name":null}]}"#,
    ];
    let listed = pages.map(|page| ("resources/list", page));
    let again = pages.map(|page| ("resources/list", page));
    let templates = r#"{"resourceTemplates":[{"uriTemplate":"mem://{id}","n":1e2}]}"#;
    let contents =
        r#"{"contents":[{"uri":"mem://a","text":"A","n":1e2},{"blob":"AAE="}],"_meta":{}}"#;
    let script = serving(&[
        listed[0],
        listed[1],
        again[0],
        again[1],
        ("resources/templates/list", templates),
        ("resources/read", contents),
    ]);
    let (_process, entry) = scripted(&script);
    let mut session = Session::started(&json!({"docs": entry}));
    let a = r#"{"server":"docs","size":5e12,"uri":"mem://a","vendor":{"server":1,"x":1.0,"x":2}}"#;
    let b = r#"{"server":"docs","uri":"b"}"#;
    let c = r#"{"server":"docs","uri":"mem://c","name":null}"#;
    check(
        &mut session,
        &[
            (
                r#"{"op":"resources"}"#,
                &format!(r#""resources":[{a},{b},{c}]"#),
            ),
            (
                r#"{"op":"resources","server":"docs","cursor":"start"}"#,
                &format!(r#""resources":[{a},{b}],"next_cursor":"p\u00e9""#),
            ),
            (
                r#"{"op":"resources","server":"docs","cursor":"p\u00e9"}"#,
                &format!(r#""resources":[{c}]"#),
            ),
            (
                r#"{"op":"resource_templates","server":"docs","cursor":null}"#,
                r#""resource_templates":[{"server":"docs","uriTemplate":"mem://{id}","n":1e2}]"#,
            ),
            (
                r#"{"op":"read_resource","server":"docs","uri":"mem://a"}"#,
                r#""contents":[{"uri":"mem://a","text":"A","n":1e2},{"blob":"AAE="}]"#,
            ),
        ],
    );
    assert_eq!(session.end(), Some(0));
}

/// P1, K7
#[test]
fn resources_of_environments_say_where_they_are_and_a_failure_stands_beside_them() {
    let of = |uri: &str| {
        let page = format!(r#"{{"resources":[{{"uri":"{uri}"}}]}}"#);
        let contents = format!(r#"{{"contents":[{{"text":"{uri}"}}]}}"#);
        scripted(&serving(&[
            ("resources/list", &page),
            ("resources/read", &contents),
        ]))
    };
    let ((_local, local), (_devbox, devbox)) = (of("mem://local"), of("mem://devbox"));
    let (_broken, broken) = scripted(&serving(&[("resources/list", r#"{"resources":7}"#)]));
    let environments = json!([
        {"id": "local", "servers": {"docs": local}},
        {"id": "devbox", "servers": {"docs": devbox, "broken": broken}},
    ]);
    let features = json!({"multi_environment_mcp": true});
    let mut session = Session::open();
    let start =
        json!({"id": "s", "op": "start", "environments": environments, "features": features});
    assert_eq!(session.ask(&start)["ok"], true);
    let requests = [
        r#"{"id":"c","op":"resources"}"#,
        r#"{"id":"c","op":"resource_templates"}"#,
        r#"{"id":"c","op":"read_resource","server":"docs","environment_id":"devbox","uri":"x"}"#,
        r#"{"id":"c","op":"read_resource","server":"docs","uri":"x"}"#,
        r#"{"id":"c","op":"resource_templates","server":"docs","environment_id":"local"}"#,
    ];
    let lines = requests.map(|request| format!("> {request}\n< {}", session.ask_raw(request)));
    insta::assert_snapshot!("of_environments", lines.join("\n"));
    assert_eq!(session.end(), Some(0));
}

/// P1: nothing is sent for what cannot be meant.
#[test]
fn a_listing_that_cannot_be_meant_is_refused() {
    let (process, entry) = scripted(&serving(&[]));
    let mut session = Session::started(&json!({"docs": entry}));
    let rows = [
        (json!({"cursor": "x"}), "a `cursor` belongs to one server"),
        (
            json!({"cursor": 7, "environment_id": "a"}),
            "a `cursor` belongs to one server",
        ),
        (json!({"environment_id": "a"}), "name that too"),
        (
            json!({"server": "docs", "timeout_ms": -1}),
            "`timeout_ms` must be a positive number",
        ),
        (json!({"server": 7}), "cannot be read"),
    ];
    for op in ["resources", "resource_templates"] {
        for (members, message) in &rows {
            let mut request = members.clone();
            request["id"] = json!("r");
            request["op"] = json!(op);
            check_invalid(&session.ask(&request), message);
        }
    }
    let request = json!({"id": "r", "op": "read_resource", "uri": "x"});
    check_invalid(&session.ask(&request), "missing field `server`");
    assert_eq!(process.log().count("resources/list"), 0);
    assert_eq!(session.end(), Some(0));
}

/// B3, B4
#[test]
fn a_reading_ends_with_its_budget_or_when_it_is_cancelled() {
    let script = serving(&[]).rule(Rule::on("resources/read", []));
    let (process, entry) = scripted(&script);
    let mut session = Session::started(&json!({"slow": entry}));
    let read =
        json!({"id": "r", "op": "read_resource", "server": "slow", "uri": "x", "timeout_ms": 100});
    let answer = session.ask(&read);
    assert_eq!(answer["error"]["outcome"], "timeout", "{answer}");
    session.send(r#"{"id":"r","op":"read_resource","server":"slow","uri":"x"}"#);
    wait(process.log().expect("resources/read", 2));
    let cancel = json!({"id": "x", "op": "cancel", "target": "r"});
    assert_eq!(session.ask(&cancel)["cancelled"], true);
    assert_eq!(session.answer("r")["error"]["outcome"], "cancelled");
    wait(process.log().expect("notifications/cancelled", 2));
    assert_eq!(session.end(), Some(0));
    wait(process.log().expect_all_gone());
}
