//! What a server asks of its host (E1, R7).

use mcp_testkit::{Action, Rule, Script, ServerLog};
use serde_json::{Value, json};

use crate::host::{Host, SERVER, logged, stdio, with_tool};

/// The answer to the server's first request of its own.
fn answer(log: &ServerLog) -> Option<Value> {
    log.messages()
        .into_iter()
        .find(|message| message["id"] == "server-1")
}

/// A request that the server makes in the middle of a call; the call goes on whatever it is answered.
async fn check(method: &str, params: Value, fits: impl Fn(&Value) -> bool) {
    let ask = Action::Ask {
        method: method.to_owned(),
        params,
    };
    let script = with_tool(Script::new(), "curious", [ask, Action::Standard]);
    let (host, process) = Host::play(&script).await;
    assert_eq!(host.call("curious").await.unwrap().text(), "curious");
    let answer = answer(&process.log()).unwrap();
    assert!(fits(&answer), "{method} was answered {answer}");
    host.end().await;
}

#[tokio::test]
async fn a_ping_is_answered() {
    check("ping", Value::Null, |answer| answer["result"] == json!({})).await;
}

/// E1: nobody is there to be asked.
#[tokio::test]
async fn an_elicitation_without_a_handler_is_declined() {
    let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}});
    let params = json!({"message": "who?", "requestedSchema": schema});
    check("elicitation/create", params, |answer| {
        answer["result"]["action"] == "decline"
    })
    .await;
}

/// What was never declared is refused, and nothing is left unanswered.
#[tokio::test]
async fn what_a_host_does_not_do_is_refused() {
    let refused = |answer: &Value| answer["error"]["code"] == -32_601;
    check("roots/list", Value::Null, refused).await;
    check("vendor/thing", json!({"a": 1}), refused).await;
    let message = json!({"role": "user", "content": {"type": "text", "text": "hi"}});
    let params = json!({"messages": [message], "maxTokens": 1});
    check("sampling/createMessage", params, refused).await;
}

/// Some servers ping before they answer, and answer only then.
#[tokio::test]
async fn a_server_may_ask_before_it_has_shaken_hands() {
    let ping = Action::Ask {
        method: "ping".into(),
        params: Value::Null,
    };
    let script = Script::new().rule(Rule::on("initialize", [ping, Action::Standard]));
    let process = script.command();
    let host = Host::ready(stdio(SERVER, &process)).await;
    assert_eq!(answer(&process.log()).unwrap()["result"], json!({}));
    host.end().await;
}

/// R7: what cannot be a request is refused when it can be told to whom.
#[tokio::test]
async fn a_request_that_cannot_be_read_is_refused_with_its_id() {
    let odd = "{\"jsonrpc\":\"2.0\",\"id\":\"server-1\",\"method\":\"elicitation/create\",\"params\":7}\n";
    let script = with_tool(
        Script::new(),
        "odd",
        [Action::stdout(odd), Action::Standard],
    );
    let (host, process) = Host::play(&script).await;
    host.call("odd").await.unwrap();
    let log = process.log();
    logged(&log, |log| answer(log).is_some()).await;
    let answer = answer(&log).unwrap();
    assert_eq!(answer["error"]["code"], -32_602, "{answer}");
    host.end().await;
}

/// R9: and the call in whose middle they come goes on.
#[tokio::test]
async fn a_flood_of_requests_is_answered_and_so_is_what_comes_after_it() {
    let request = json!({"jsonrpc": "2.0", "id": "flood", "method": "vendor/thing"});
    let flood = Action::Repeat(600, vec![Action::Send(request)]);
    let ping = Action::Ask {
        method: "ping".into(),
        params: Value::Null,
    };
    let script = with_tool(Script::new(), "wild", [flood, ping, Action::Standard]);
    let (host, process) = Host::play(&script).await;
    host.call("wild").await.unwrap();
    let log = process.log();
    let messages = log.messages();
    let refused = messages.iter().filter(|message| message["id"] == "flood");
    assert_eq!(refused.count(), 600);
    assert_eq!(answer(&log).unwrap()["result"], json!({}));
    host.end().await;
}
