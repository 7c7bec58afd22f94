//! Telemetry only watches (T4, B5).

use mcp_runtime::{CallOptions, ErrorChain, Telemetry};
use mcp_testkit::{Action, ExportedTelemetry, Script};
use serde_json::Value;

use super::watched;
use crate::host::{Host, SERVER, builder, raw, stdio, with_tool};

/// Answers of every kind, with all that telemetry reads and with spellings that a reader would lose.
const RESULTS: [&str; 4] = [
    r#"{"content":[{"type":"text","text":"a\ud83d"}],"zeta":1e2,"_meta":{"codex/telemetry":{"span":{"target_id":"t"}}}}"#,
    r#"{"isError":true,"structuredContent":{"error_code":"E 1","n":1.0},"content":[{"type":"text","text":"no"}]}"#,
    r#"{"isError":true,"_meta":{"_codex_apps":{"connector_auth_failure":{"is_auth_failure":true,"error_code":"X"}},"codex/telemetry":{"error_code":"type_error"}}}"#,
    r#"{ "unknown" : [ 1 , 2.50 ] , "isError" : "true" }"#,
];

fn script() -> Script {
    let mut script = Script::new();
    for (n, result) in RESULTS.iter().enumerate() {
        let answer = Action::ResultRaw((*result).to_owned());
        script = with_tool(script, &format!("t{n}"), [answer]);
    }
    let error = r#"{"code":-32000,"message":"no","data":{"n":1e2}}"#;
    with_tool(script, "refuses", [Action::ErrorRaw(error.to_owned())])
}

/// What a model would be shown, and what the server was asked.
async fn said(host: Host, process: &mcp_testkit::ServerProcess) -> (Vec<String>, Vec<Value>) {
    let mut outputs = Vec::new();
    for tool in ["t0", "t1", "t2", "t3", "refuses"] {
        let options = CallOptions::new().arguments(raw(r#"{"n":1e2}"#));
        outputs.push(match host.call_with(tool, options).await {
            Ok(output) => output.into_raw().get().to_owned(),
            Err(error) => ErrorChain(&error).to_string(),
        });
    }
    host.end().await;
    (outputs, process.log().messages())
}

/// T4, B5
#[tokio::test]
async fn what_a_model_sees_is_the_same_to_the_byte_with_telemetry_and_without() {
    let script = script();
    let process = script.command();
    let off = builder().telemetry(&Telemetry::off());
    let host = Host::begin(off.server(stdio(SERVER, &process)))
        .settled()
        .await;
    let (without, asked_without) = said(host, &process).await;

    let exported = ExportedTelemetry::begin();
    let process = script.command();
    let host = Host::begin(watched(&exported).server(stdio(SERVER, &process)));
    let (with, mut asked_with) = said(host.settled().await, &process).await;

    assert_eq!(with, without);
    assert_eq!(
        with[..4],
        RESULTS.map(str::to_owned),
        "as the server wrote them"
    );
    assert!(!exported.spans().is_empty());
    let mut told = 0;
    for message in &mut asked_with {
        let meta = message.pointer_mut("/params/_meta");
        if let Some(meta) = meta.and_then(Value::as_object_mut) {
            told += usize::from(meta.remove("traceparent").is_some());
        }
        if message.pointer("/params/_meta") == Some(&serde_json::json!({})) {
            message["params"].as_object_mut().unwrap().remove("_meta");
        }
    }
    assert_eq!(told, 6, "the listing and five calls");
    assert_eq!(asked_with, asked_without, "and nothing else is sent");
}
