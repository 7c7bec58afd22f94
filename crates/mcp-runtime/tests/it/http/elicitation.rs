//! What servers behind an endpoint want to know from a person (E1).

use mcp_runtime::{CallId, CallOptions, ElicitationAnswer};
use mcp_testkit::{EventStream, HttpHandle, HttpResponse};
use serde_json::{Value, json};

use super::{end, ready_with};
use crate::host::{Host, at_once, raw};
use crate::person::{Person, person};

/// A ready host with a person behind it, and its endpoint with two tools.
async fn asked() -> (Host, HttpHandle, Person) {
    let (handler, person) = person();
    let (host, server) = ready_with(|builder| builder.elicitation(handler), &["a", "b"]).await;
    (host, server, person)
}

/// Asks on this stream; whose question the person takes it for.
async fn ask(
    server: &mut HttpHandle,
    stream: &mut EventStream,
    person: &mut Person,
) -> Option<CallId> {
    let question = json!({"jsonrpc": "2.0", "id": "q", "method": "elicitation/create", "params": {"message": "sure?"}});
    stream.event(&question).await;
    let content = raw(r#"{"n":1e2}"#);
    let accepted = ElicitationAnswer::accept_with(content).expect("an object");
    let asked = person.question().await.answer(accepted);
    let answer = server.expect_post_of_response().await;
    let expected = r#"{"jsonrpc":"2.0","id":"q","result":{"action":"accept","content":{"n":1e2}}}"#;
    assert_eq!(answer.body().trim_ascii_end(), expected.as_bytes());
    answer.accept().await;
    asked.call()
}

/// A call that is answered with a stream: the tool, the stream, and the id of the request.
async fn streamed(server: &mut HttpHandle) -> (Value, EventStream, Value) {
    let request = server.expect_post("tools/call").await;
    let (tool, id) = (request.params()["name"].clone(), request.id().clone());
    (tool, request.stream(HttpResponse::new(200)).await, id)
}

async fn finish(mut stream: EventStream, id: &Value) {
    let result = json!({"content": []});
    stream
        .event(&json!({"jsonrpc": "2.0", "id": id, "result": result}))
        .await;
    stream.finish().await;
}

/// E1: whatever else is under way.
#[tokio::test]
async fn a_question_on_the_stream_of_a_call_is_that_calls() {
    let (host, mut server, mut person) = asked().await;
    let calls = ["a", "b"].map(|tool| host.prepare(tool));
    let [a, b] = calls.each_ref().map(mcp_runtime::PreparedCall::id);
    let calls = calls.map(|call| call.execute(CallOptions::new()));
    let calls = at_once(futures_util::future::join_all(calls));
    let serving = async {
        // Which of the two comes first, the network decides.
        let (tool, mut stream, id) = streamed(&mut server).await;
        let (_, other, other_id) = streamed(&mut server).await;
        let asking = ask(&mut server, &mut stream, &mut person).await;
        finish(stream, &id).await;
        finish(other, &other_id).await;
        (tool, asking)
    };
    let (outcomes, (tool, asking)) = tokio::join!(calls, serving);
    assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
    assert_eq!(asking, Some(if tool == "a" { a } else { b }));
    end(&host, server).await;
}

/// E1: many servers ask there though it is about a call.
#[tokio::test]
async fn a_question_on_the_common_stream_is_the_only_calls() {
    let (host, mut server, mut person) = asked().await;
    let mut common = server
        .expect_get()
        .await
        .stream(HttpResponse::new(200))
        .await;
    assert_eq!(ask(&mut server, &mut common, &mut person).await, None);
    let call = host.prepare("a");
    let id = call.id();
    let serving = async {
        let (_, stream, request) = streamed(&mut server).await;
        let asking = ask(&mut server, &mut common, &mut person).await;
        finish(stream, &request).await;
        asking
    };
    let call = at_once(call.execute(CallOptions::new()));
    let (outcome, asking) = tokio::join!(call, serving);
    assert!(outcome.is_ok(), "{outcome:?}");
    assert_eq!(asking, Some(id));
    end(&host, server).await;
}
