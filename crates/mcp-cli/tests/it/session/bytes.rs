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
/// A member of the metadata that a caller adds.
const META: &str = r#""a.b/c":{"z":1e2,"a":18446744073709551616,"e":[ ],"z":"\u00e9"}"#;

/// A tool that ends in an error, and the error's data.
const REFUSED: &str = "refused";
const DATA: &str = r#"{"z":1e2,"a":18446744073709551616,"z":["\u00e9",[[[[[[[[0]]]]]]]]]}"#;

/// A tool as no parser would write it.
const DEFINITION: &str =
    r#"{"name":"odd","x":1e2,"inputSchema":{"maximum":18446744073709551616},"x":"again"}"#;

fn tool(row: usize) -> String {
    format!("t{row}")
}

fn error() -> String {
    format!(r#"{{"code":-32001,"message":"no","data":{DATA}}}"#)
}

/// Everything that a server lists.
fn listed() -> String {
    let rows = (0..RESULTS.len()).map(tool).chain([REFUSED.to_owned()]);
    let rows: Vec<String> = rows
        .map(|name| json!({ "name": name }).to_string())
        .collect();
    format!(r#"{{"tools":[{},{DEFINITION}]}}"#, rows.join(","))
}

/// What a caller wrote is in what the server got.
#[track_caller]
fn check_received(call: &str) {
    for part in [&format!("\"arguments\":{ARGUMENTS}"), META] {
        assert!(call.contains(part), "{call} has no {part}");
    }
}

/// Calls the tool of each row, and compares.
#[track_caller]
fn check(session: &mut Session, way: &str) {
    for (row, (result, why)) in RESULTS.iter().enumerate() {
        let tool = tool(row);
        let answer = session.ask_raw(&format!(
            r#"{{"id":"c","op":"call","server":"s","tool":"{tool}","arguments":{ARGUMENTS},"meta":{{{META}}}}}"#
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
    let call = format!(
        r#"{{"id":"c","op":"call","server":"s","tool":"{REFUSED}","arguments":{ARGUMENTS},"meta":{{{META}}}}}"#
    );
    let answer = session.ask_raw(&call);
    assert!(
        answer.contains(&format!("\"data\":{DATA}")),
        "{way}, the data of an error: {answer}"
    );
    let answer = session.ask_raw(r#"{"id":"c","op":"tools"}"#);
    assert!(
        answer.contains(&format!("\"definition\":{DEFINITION}")),
        "{way}, a definition: {answer}"
    );
    let value: Value = serde_json::from_str(&answer).expect("JSON");
    let tools = value["tools"].as_array().expect("tools");
    assert!(tools.iter().any(|tool| tool["tool"] == "odd"), "{answer}");
}

/// B5
#[test]
fn results_of_processes_are_what_they_wrote() {
    let script = Script::new()
        .rule(Rule::on("tools/list", [Action::ResultRaw(listed())]))
        .rule(Rule::on_tool(REFUSED, [Action::ErrorRaw(error())]));
    let script = RESULTS
        .iter()
        .enumerate()
        .fold(script, |script, (row, (result, _))| {
            let answer = Action::ResultRaw((*result).to_owned());
            script.rule(Rule::on_tool(tool(row), [answer]))
        });
    let (process, entry) = scripted(&script);
    let mut session = Session::started(&json!({ "s": entry }));
    check(&mut session, "stdio");
    assert_eq!(session.end(), Some(0));
    let sent = process.log().lines();
    let calls = sent.iter().filter(|line| line.contains("\"tools/call\""));
    assert_eq!(calls.clone().count(), RESULTS.len() + 1);
    for call in calls {
        check_received(call);
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
            request.result_raw(&listed()).await;
        }
        Some("tools/call") => {
            let body = String::from_utf8_lossy(request.body()).into_owned();
            check_received(&body);
            let row = request.params()["name"]
                .as_str()
                .and_then(|name| name[1..].parse::<usize>().ok());
            let ending = match row {
                Some(row) => format!("\"result\":{}", RESULTS[row].0),
                None => format!("\"error\":{}", error()),
            };
            let message = format!("{{\"jsonrpc\":\"2.0\",\"id\":{},{ending}}}", request.id());
            if way == Way::Json {
                let response = HttpResponse::new(200).body("application/json", message);
                return request.respond(response).await;
            }
            let event = format!("data: {message}\n\n");
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
