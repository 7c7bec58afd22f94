//! What a server wrote comes out of a session as it wrote it, whichever way it came (B5, W1).
//!
//! Line ends between tokens are the one thing that lines cannot carry; they come out as blanks.

use mcp_testkit::{Action, Exchange, Handshake, HttpResponse, Rule, Script, ScriptedHttp};
use serde_json::{Value, json};

use super::Session;
use crate::program::scripted;

/// Results that a parser somewhere would write another way.
const RESULTS: &[(&str, &str)] = &[
    (
        r#"{"content":[],"x":1e2,"y":1E+2,"z":1.0,"w":-0.0}"#,
        "spelling of numbers",
    ),
    (
        r#"{"n":123456789012345678901234567890,"m":18446744073709551616,"f":0.1000000000000000055511151231257827}"#,
        "more digits than any number type",
    ),
    (r#"{"n":1e400,"m":-1e-400}"#, "beyond any exponent"),
    (
        r#"{"zeta":1,"alpha":2,"zeta":3}"#,
        "order of members, one of them twice",
    ),
    (
        r#"{"content":[{"type":"x-new","data":[1,null]},{"type":"text","text":"a","extra":{"b":[]}}]}"#,
        "unknown blocks and members",
    ),
    (r#"{"_meta":{"a/b":{"c":[1e2]}}}"#, "metadata alone"),
    (
        r#"{"structuredContent":{"deep":[[[[[[[[[[0]]]]]]]]]]}}"#,
        "structured content alone",
    ),
    (
        r#"{"text":"\u00e9\/\ud83d\ude00\b","plain":"é/😀"}"#,
        "escapes, and what needs none",
    ),
    (r#"{"text":"\ud800 alone"}"#, "half a character"),
    ("{ \"a\" : [ 1 ,  2 ] ,\"b\":\t{}  }", "blanks and tabs"),
    (
        r#"{"tools":[1],"resources":null,"action":"accept","content":[]}"#,
        "members of other results",
    ),
    (
        r#"{"isError":true,"content":[],"error_code":{"odd":1e2}}"#,
        "a failed tool",
    ),
    (
        r#"{"content":[{"type":"text","text":"a\nb\r\n\tc"}]}"#,
        "line ends in texts",
    ),
];

/// What a caller writes, and the server must get.
const ARGUMENTS: &str = r#"{"z":1e2,"a":18446744073709551616,"z":{"é":"\u00e9"},"e":[ ]}"#;

fn tool(row: usize) -> String {
    format!("t{row}")
}

/// Calls the tool of each row, and compares.
#[track_caller]
fn check(session: &mut Session, way: &str) {
    for (row, (result, why)) in RESULTS.iter().enumerate() {
        let tool = tool(row);
        let answer = session.ask_raw(&format!(
            r#"{{"id":"c","op":"call","server":"s","tool":"{tool}","arguments":{ARGUMENTS}}}"#
        ));
        let (_, rest) = answer.split_once("\"result\":").expect("a result");
        assert!(
            rest.starts_with(result),
            "{way}, {why}: {answer} has no {result}"
        );
        assert!(
            rest[result.len()..].starts_with(','),
            "{way}, {why}: {answer}"
        );
    }
}

/// B5
#[test]
fn results_of_processes_are_what_they_wrote() {
    let script = RESULTS
        .iter()
        .enumerate()
        .fold(Script::new(), |script, (row, (result, _))| {
            let answer = Action::ResultRaw((*result).to_owned());
            let name = tool(row);
            script.tool_named(&name).rule(Rule::on_tool(name, [answer]))
        });
    let (process, entry) = scripted(&script);
    let mut session = Session::started(&json!({ "s": entry }));
    check(&mut session, "stdio");
    assert_eq!(session.end(), Some(0));
    let sent = process.log().lines();
    let calls = sent.iter().filter(|line| line.contains("\"tools/call\""));
    for call in calls {
        assert!(
            call.contains(&format!("\"arguments\":{ARGUMENTS}")),
            "{call}"
        );
    }
}

/// How an endpoint answers calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Json,
    Events,
}

async fn answer(request: Exchange, way: Way) {
    if request.verb() != "POST" {
        return request.respond(HttpResponse::new(405)).await;
    }
    match request.message()["method"].as_str() {
        Some("initialize") => {
            let result = Handshake::new().result(request.params());
            request.result(result).await;
        }
        Some("tools/list") => {
            let tools: Vec<_> = (0..RESULTS.len())
                .map(|row| json!({"name": tool(row)}))
                .collect();
            request.result(json!({ "tools": tools })).await;
        }
        Some("tools/call") => {
            let body = String::from_utf8_lossy(request.body()).into_owned();
            assert!(
                body.contains(&format!("\"arguments\":{ARGUMENTS}")),
                "{body}"
            );
            let row = request.params()["name"]
                .as_str()
                .and_then(|name| name[1..].parse::<usize>().ok());
            let (result, _) = RESULTS[row.expect("a row")];
            if way == Way::Json {
                return request.result_raw(result).await;
            }
            let event = format!("data: {{\"id\":{},\"result\":{result}}}\n\n", request.id());
            let mut stream = request.stream(HttpResponse::new(200)).await;
            stream.send_raw(event).await;
            stream.finish().await;
        }
        _ => request.accept().await,
    }
}

/// B5
#[tokio::test(flavor = "multi_thread")]
async fn results_of_endpoints_are_what_they_wrote() {
    for way in [Way::Json, Way::Events] {
        let (url, mut endpoint) = ScriptedHttp::bind().await;
        let serving = tokio::spawn(async move {
            loop {
                answer(endpoint.expect_any().await, way).await;
            }
        });
        let entry = json!({"s": {"url": url, "era": "legacy"}});
        let asking = tokio::task::spawn_blocking(move || {
            let mut session = Session::started(&entry);
            check(&mut session, &format!("{way:?}"));
            session.end()
        });
        tokio::select! {
            status = asking => assert_eq!(status.expect("no row failed"), Some(0)),
            served = serving => panic!("the endpoint goes on: {served:?}"),
        }
    }
}

/// W1: definitions too.
#[test]
fn definitions_are_what_the_server_wrote() {
    let definition =
        r#"{"name":"odd","x":1e2,"inputSchema":{"maximum":18446744073709551616},"x":"again"}"#;
    let list = format!(r#"{{"tools":[{definition}]}}"#);
    let script = Script::new().rule(Rule::on("tools/list", [Action::ResultRaw(list)]));
    let (_process, entry) = scripted(&script);
    let mut session = Session::started(&json!({ "s": entry }));
    let answer = session.ask_raw(r#"{"id":"c","op":"tools"}"#);
    assert!(
        answer.contains(&format!("\"definition\":{definition}")),
        "{answer}"
    );
    let value: Value = serde_json::from_str(&answer).expect("JSON");
    assert_eq!(value["tools"][0]["tool"], "odd");
    assert_eq!(session.end(), Some(0));
}
