//! Prompts over JSON lines (P2).

use mcp_testkit::{Action, Handshake, Rule, Script};
use serde_json::json;

use super::{Session, check_invalid};
use crate::program::scripted;

fn serving(answers: &[(&str, &str)]) -> Script {
    let capabilities = json!({"tools": {}, "prompts": {}});
    let script = Script::new().handshake(Handshake::new().capabilities(capabilities));
    answers.iter().fold(script, |script, (method, result)| {
        script.rule(Rule::on(*method, [Action::ResultRaw((*result).to_owned())]))
    })
}

/// P2, K2, B5
#[test]
fn prompts_are_the_servers_own_objects_with_their_owner() {
    let result = r#"{"zeta":1e2,"messages":[{"role":"user","content":{"n":1,"n":2}}],"_meta":{}}"#;
    let list = r#"{"prompts":[{"name":"review","vendor":{"server":1,"x":1.0}},{"server":"liar","name":"b"}]}"#;
    let (process, entry) = scripted(&serving(&[("prompts/list", list), ("prompts/get", result)]));
    let mut session = Session::started(&json!({"docs": entry}));
    let arguments = r#"{"z":1e2,"a":18446744073709551616}"#;
    let rows = [
        (
            r#"{"id":"c","op":"prompts"}"#.to_owned(),
            r#""prompts":[{"server":"docs","name":"review","vendor":{"server":1,"x":1.0}},{"server":"docs","name":"b"}]"#.to_owned(),
        ),
        (
            format!(r#"{{"id":"c","op":"get_prompt","server":"docs","name":"review","arguments":{arguments}}}"#),
            format!(r#""result":{result}"#),
        ),
    ];
    for (request, answer) in rows {
        let expected = format!(r#"{{"id":"c","ok":true,{answer}}}"#);
        assert_eq!(session.ask_raw(&request), expected, "{request}");
    }
    let sent = process.log().lines();
    let get = sent.iter().find(|line| line.contains("\"prompts/get\""));
    assert!(get.is_some_and(|get| get.contains(arguments)), "{get:?}");
    assert_eq!(session.end(), Some(0));
}

/// P2, K7
#[test]
fn prompts_of_environments_are_addressed_by_exact_identity() {
    let of = |place: &str| {
        let list = format!(r#"{{"prompts":[{{"name":"{place}"}}]}}"#);
        let got = format!(r#"{{"messages":["{place}"]}}"#);
        scripted(&serving(&[("prompts/list", &list), ("prompts/get", &got)]))
    };
    let ((_a, a), (_b, b)) = (of("a"), of("b"));
    let mut session = Session::open();
    let start = json!({"id": "s", "op": "start", "features": {"multi_environment_mcp": true}, "environments": [
        {"id": "a", "servers": {"docs": a}}, {"id": "b", "servers": {"docs": b}},
    ]});
    assert_eq!(session.ask(&start)["ok"], true);
    let prompts = session.ask(&json!({"id": "p", "op": "prompts"}));
    let expected = json!([
        {"server": "docs", "environment_id": "a", "name": "a"},
        {"server": "docs", "environment_id": "b", "name": "b"},
    ]);
    assert_eq!(prompts["prompts"], expected);
    let get = json!({"id": "g", "op": "get_prompt", "server": "docs", "environment_id": "b", "name": "x"});
    assert_eq!(session.ask(&get)["result"]["messages"], json!(["b"]));
    let vague = json!({"id": "g", "op": "get_prompt", "server": "docs", "name": "x"});
    check_invalid(&session.ask(&vague), "`environment_id`");
    let unlisted = json!({"id": "g", "op": "get_prompt", "server": "docs", "environment_id": "b", "name": "x", "arguments": 7});
    check_invalid(&session.ask(&unlisted), "must be a JSON object");
    assert_eq!(session.end(), Some(0));
}
