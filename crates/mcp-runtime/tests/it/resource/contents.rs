//! Resources that are read (P1, W1, B3, R9).

use std::time::Duration;

use mcp_runtime::{ErrorCode, QueryError, QueryOptions, ResourceContents, RpcError};
use mcp_testkit::{Action, Rule, Script};
use serde_json::value::RawValue;
use tokio::time::Instant;

use super::declaring;
use crate::host::{Host, SERVER, at_once, stdio, text};

/// A server that answers so when a resource is read.
fn answering(run: impl IntoIterator<Item = Action>) -> Script {
    declaring().rule(Rule::on("resources/read", run))
}

async fn read(host: &Host, uri: &str) -> Result<ResourceContents, QueryError> {
    let reading = host.runtime.read_resource(SERVER, uri, QueryOptions::new());
    at_once(reading).await
}

/// W1
#[tokio::test]
async fn contents_are_what_the_server_wrote_and_the_uri_what_the_caller_did() {
    let result = r#"{"zeta":1e2,"contents":[{"uri":"mem://a","text":"A"},{"blob":"AAE=","vendor":{"n":1,"n":2}}],"_meta":{"k":0.10}}"#;
    let script = answering([Action::ResultRaw(result.to_owned())]);
    let (host, process) = Host::play(&script).await;
    let uris = [
        "mem://a",
        "not a URI",
        "",
        "a\u{e9}\n\"\\",
        "HTTP://A/%7e/../b",
    ];
    for uri in uris {
        let contents = read(&host, uri).await.unwrap();
        assert_eq!(contents.contents().len(), 2, "{uri:?}");
        assert_eq!(contents.into_raw().get(), result, "{uri:?}");
    }
    let asked = process.log().messages().into_iter();
    let asked: Vec<_> = asked
        .filter(|message| message["method"] == "resources/read")
        .map(|message| message["params"]["uri"].as_str().map(ToOwned::to_owned))
        .collect();
    assert_eq!(asked, uris.map(|uri| Some(uri.to_owned())));
    host.end().await;
    process.log().expect_all_gone().await;
}

/// R9, R10: each with its type, and the last one ends the connection.
#[tokio::test]
async fn a_resource_that_cannot_be_read_says_why() {
    let error =
        r#"{"code":-32002,"message":"Resource not found","data":{"uri":"mem://z","n":1e2}}"#;
    let raw = |json: &str| Action::ResultRaw(json.to_owned());
    let unexpected = ErrorCode::UnexpectedResponse;
    let rows = [
        (
            Action::ErrorRaw(error.into()),
            ErrorCode::ProtocolError,
            "Resource not found",
        ),
        (raw("{}"), unexpected, "missing field `contents`"),
        (
            raw(r#"{"contents":"A"}"#),
            unexpected,
            "expected a sequence",
        ),
        (raw(r#"[[{"text":"A"}]]"#), unexpected, "no object"),
        (
            Action::Exit(3),
            ErrorCode::TransportClosed,
            "exited with status 3",
        ),
    ];
    let script = rows.iter().fold(declaring(), |script, (answer, ..)| {
        script.rule(Rule::on("resources/read", [answer.clone()]).times(1))
    });
    let (host, process) = Host::play(&script).await;
    for (answer, code, says) in &rows {
        let error = read(&host, "mem://z").await.unwrap_err();
        let message = text(&error);
        assert_eq!(error.code(), *code, "{answer:?}: {message}");
        assert!(message.contains(says), "{answer:?}: {message}");
        let rpc = error.request_error().and_then(|request| request.rpc());
        let data = rpc.and_then(RpcError::data).map(RawValue::get);
        let expected =
            (*code == ErrorCode::ProtocolError).then_some(r#"{"uri":"mem://z","n":1e2}"#);
        assert_eq!(data, expected, "{answer:?}");
    }
    host.end().await;
    process.log().expect_all_gone().await;
}

/// B3, B4: the server's own budget, or the caller's smaller one; the server is told that nobody waits.
#[tokio::test]
async fn a_server_that_does_not_answer_is_waited_for_until_the_deadline() {
    let script = answering([]).rule(Rule::on("resources/list", []));
    let process = script.command();
    let budget = Duration::from_millis(600);
    let host = Host::ready(stdio(SERVER, &process).tool_timeout(budget)).await;
    let smaller = Duration::from_millis(200);
    let rows = [
        (QueryOptions::new(), budget, "the server's own"),
        (
            QueryOptions::new().timeout(smaller),
            smaller,
            "the caller's",
        ),
        (
            QueryOptions::new().timeout(budget * 100),
            budget,
            "a larger one changes nothing",
        ),
    ];
    for (options, expected, why) in rows {
        let begun = Instant::now();
        let (read, listed, (resources, errors)) = tokio::join!(
            host.runtime.read_resource(SERVER, "mem://a", options),
            host.runtime.list_resources(SERVER, None, options),
            host.runtime.list_all_resources(options),
        );
        assert!(begun.elapsed() >= expected, "{why}");
        assert_eq!((resources.len(), errors.len()), (0, 1), "{why}");
        let errors = [read.err(), listed.err(), errors.into_iter().next()];
        for error in errors {
            let error = error.expect("nobody answers");
            assert_eq!(error.code(), ErrorCode::RequestTimeout, "{why}");
            let elapsed = error.request_error().and_then(|request| request.elapsed());
            assert_eq!(
                elapsed.map(|elapsed| elapsed.budget()),
                Some(expected),
                "{why}"
            );
        }
    }
    process.log().expect("notifications/cancelled", 9).await;
    host.end().await;
    process.log().expect_all_gone().await;
}
