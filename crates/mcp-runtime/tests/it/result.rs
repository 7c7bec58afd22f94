//! What a tool answers is what the host gets (W1, B5).

use std::time::Duration;

use futures_util::future::join_all;
use mcp_runtime::{CallOptions, ErrorCode};
use mcp_testkit::{Action, Script};

use crate::host::{Host, at_once, raw, text, with_tool};

/// Every result reaches the host byte for byte.
async fn check(rows: &[(&str, &str)]) {
    let mut script = Script::new();
    for (number, (result, _)) in rows.iter().enumerate() {
        let answer = Action::ResultRaw((*result).to_owned());
        script = with_tool(script, &format!("tool-{number}"), [answer]);
    }
    let (host, process) = Host::play(&script).await;
    for (number, (result, why)) in rows.iter().enumerate() {
        let output = host.call(&format!("tool-{number}")).await;
        let output = output.unwrap_or_else(|error| panic!("{why}: {}", text(&error)));
        assert_eq!(output.raw().get(), *result, "{why}");
        assert!(!output.is_error(), "{why}");
    }
    host.end().await;
    process.log().expect_all_gone().await;
}

/// W1, B5
#[tokio::test]
async fn a_result_is_what_the_server_wrote() {
    check(&[
        (r#"{"content":[],"n":1e2,"m":-0.0,"z":1.0}"#, "numbers keep their spelling"),
        (
            r#"{"structuredContent":{"id":123456789012345678901234567890},"content":[]}"#,
            "an integer beyond 64 bits",
        ),
        (
            r#"{"structuredContent":{"f":0.10000000000000000555111512312578270211815834045410156}}"#,
            "more digits than a double holds",
        ),
        (r#"{"a":1,"content":[],"a":2}"#, "duplicate keys"),
        (r#"{"zeta":1,"content":[],"alpha":2}"#, "keys in the server's order"),
        (
            r#"{"content":[{"type":"hologram","depth":{"z":[1E+2]}},{"no":"type"},7,null]}"#,
            "blocks that nobody knows",
        ),
        (r#"{"_meta":{"vendor/key":1}}"#, "nothing but metadata"),
        (r#"{"_meta":null,"content":null,"isError":null}"#, "members that are null"),
        ("{}", "nothing at all"),
        (r#"{ "content" : [ ] ,  "x": 1 }"#, "white space"),
        (
            r#"{"content":[{"type":"text","text":"\u00e9\/\ud83d\ude00 é"}]}"#,
            "escapes that could be written otherwise",
        ),
        (r#"{"content":[],"future":{"resultType":"complete"}}"#, "members of later versions"),
    ])
    .await;
}

/// W1
#[tokio::test]
async fn a_large_result_arrives_whole() {
    let script = with_tool(Script::new(), "large", [Action::ResultOfSize(4 << 20)]);
    let (host, process) = Host::play(&script).await;
    let output = host.call("large").await.unwrap();
    assert_eq!(output.text().len(), 4 << 20);
    host.end().await;
    process.log().expect_all_gone().await;
}

/// W1: each caller gets its own answer, in whichever order they come.
#[tokio::test]
async fn calls_that_overlap_get_their_own_answers() {
    let slow = [Action::delay(Duration::from_millis(50)), Action::Echo];
    let script = with_tool(Script::new(), "slow", slow);
    let script = with_tool(script, "fast", [Action::Echo]);
    let (host, process) = Host::play(&script).await;
    let calls = (0..200).map(|number| {
        let tool = if number % 2 == 0 { "slow" } else { "fast" };
        let options = CallOptions::new().arguments(raw(&format!("{{\"number\":{number}}}")));
        host.prepare(tool).execute(options)
    });
    for (number, outcome) in at_once(join_all(calls)).await.into_iter().enumerate() {
        let echo: serde_json::Value = serde_json::from_str(&outcome.unwrap().text()).unwrap();
        assert_eq!(echo["arguments"]["number"], number);
    }
    host.end().await;
    process.log().expect_all_gone().await;
}

/// B5, T3
#[tokio::test]
async fn a_tool_that_says_it_failed_is_a_result() {
    let result = r#"{"isError":true,"structuredContent":{"error_code":"quota","n":1e2},"content":[{"type":"text","text":"no more"}]}"#;
    let script = with_tool(Script::new(), "quota", [Action::ResultRaw(result.into())]);
    let (host, _process) = Host::play(&script).await;
    let output = host.call("quota").await.unwrap();
    assert!(output.is_error());
    assert_eq!(output.text(), "no more");
    assert_eq!(
        output.error_code().map(ToString::to_string).as_deref(),
        Some("quota")
    );
    assert_eq!(output.into_raw().get(), result);
    host.end().await;
}

/// B5, T1
#[tokio::test]
async fn a_json_rpc_error_keeps_its_code_message_and_data() {
    let error = r#"{"code":-32050,"message":"try \u00e9lsewhere","data":{"n":1e2,"n":123456789012345678901}}"#;
    let script = with_tool(Script::new(), "refused", [Action::ErrorRaw(error.into())]);
    let (host, _process) = Host::play(&script).await;
    let error = host.call("refused").await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::ProtocolError);
    let rpc = error.request().and_then(|request| request.rpc()).unwrap();
    assert_eq!((rpc.code(), rpc.message()), (-32050, "try élsewhere"));
    let data = rpc.data().map(serde_json::value::RawValue::get);
    assert_eq!(data, Some(r#"{"n":1e2,"n":123456789012345678901}"#));
    host.end().await;
}
