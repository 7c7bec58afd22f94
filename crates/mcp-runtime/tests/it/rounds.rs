//! Servers that want to know something before they answer (B6).

use mcp_runtime::{
    CallError, CallOptions, ElicitationAnswer, Era, ErrorChain, ErrorCode, QueryOptions,
    RequestErrorKind, ServerConfig, ServerState, SpokenEra, ToolOutput,
};
use mcp_testkit::{Action, Rule, Script, ServerProcess};
use serde_json::{Value, json};

use crate::host::{Host, SERVER, at_once, builder, raw, transport};
use crate::person::{Person, person};

const FINAL: &str =
    r#"{"zeta":1e2,"resultType":"complete","content":[{"type":"text","text":"done"}]}"#;

/// A server of the modern era with a tool `ask`.
fn modern() -> Script {
    let discovered = json!({"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}, "resources": {}}, "ttlMs": 0, "cacheScope": "private"});
    let script = Script::new().tool_named("ask");
    script.rule(Rule::on("server/discover", [Action::Result(discovered)]))
}

/// A result that wants to know this, and is to be reminded of that.
fn required(requests: &Value, state: &str) -> Action {
    let requests = requests.to_string();
    Action::ResultRaw(format!(
        r#"{{"resultType":"input_required","inputRequests":{requests},"requestState":{state}}}"#
    ))
}

fn form(message: &str) -> Value {
    json!({"method": "elicitation/create", "params": {"message": message, "requestedSchema": {"type": "object"}}})
}

fn answers_once(action: Action) -> Rule {
    Rule::on_tool("ask", [action]).times(1)
}

/// A host that has started the script, with a person behind it.
async fn play(script: &Script, era: Era) -> (Host, ServerProcess, Person) {
    let process = script.command();
    let server = ServerConfig::stdio(SERVER.parse().expect("a name"), transport(&process));
    let (handler, person) = person();
    let builder = builder().elicitation(handler);
    let host = Host::begin(builder.server(server.era(era)));
    (host.settled().await, process, person)
}

/// The parameters of each request with this method, as the server read them.
fn params(process: &ServerProcess, method: &str) -> Vec<Value> {
    let messages = process.log().messages().into_iter();
    let of = messages.filter(|message| message["method"] == method);
    of.map(|message| message["params"].clone()).collect()
}

/// B6, E1, S6
#[tokio::test]
async fn a_call_goes_on_with_what_a_person_said() {
    let state = r#""opaque \u00e9""#;
    let script = modern()
        .rule(answers_once(required(
            &json!({"b": form("two?"), "a": form("one?")}),
            state,
        )))
        .rule(answers_once(required(
            &json!({"last": form("sure?")}),
            "\"second\"",
        )))
        .rule(answers_once(Action::ResultRaw(FINAL.to_owned())));
    let (host, process, mut person) = play(&script, Era::Modern).await;
    let call = host.prepare("ask");
    let id = call.id();
    let options = CallOptions::new().arguments(raw(r#"{"n":1e2}"#));
    let options = options.meta(raw(r#"{"codex/sandbox-state":1,"kept":1}"#));
    let answering = async {
        let mut asked = Vec::new();
        for content in [r#"{"n":1}"#, r#"{"n":12345678901234567890123}"#, "{}"] {
            let answer = ElicitationAnswer::accept_with(raw(content)).expect("an object");
            asked.push(person.question().await.answer(answer));
        }
        asked
    };
    let (output, asked) = tokio::join!(at_once(call.execute(options)), answering);
    assert_eq!(output.expect("a result").raw().get(), FINAL, "B5");
    let said: Vec<_> = asked.iter().map(|question| question.message()).collect();
    assert_eq!(said, ["one?", "two?", "sure?"]);
    assert!(asked.iter().all(|question| question.call() == Some(id)));

    let lines = process.log().lines();
    let calls: Vec<_> = lines
        .iter()
        .filter(|line| line.contains("tools/call"))
        .collect();
    let responses = r#""inputResponses":{"a":{"action":"accept","content":{"n":1}},"b":{"action":"accept","content":{"n":12345678901234567890123}}}"#;
    assert_eq!(calls.len(), 3, "{calls:?}");
    assert!(!calls[0].contains("inputResponses") && !calls[0].contains("requestState"));
    assert!(calls[1].contains(responses), "{}", calls[1]);
    assert!(
        calls[1].contains(&format!("\"requestState\":{state}")),
        "{}",
        calls[1]
    );
    assert!(
        calls[2].contains(r#""requestState":"second""#),
        "{}",
        calls[2]
    );
    for params in params(&process, "tools/call") {
        let meta = &params["_meta"];
        assert_eq!(meta["kept"], 1);
        assert!(meta.get("codex/sandbox-state").is_none(), "{meta}");
        assert!(
            meta["io.modelcontextprotocol/clientInfo"].is_object(),
            "{meta}"
        );
        assert_eq!(params["arguments"]["n"], 100.0);
    }
    host.end().await;
}

/// Calls the tool of a server that answers like this for ever, with nobody there to be asked.
async fn call(answer: Action, era: Era) -> (Result<ToolOutput, CallError>, ServerProcess) {
    let script = match era {
        Era::Modern => modern(),
        _ => Script::new().tool_named("ask"),
    };
    let process = script.rule(Rule::on_tool("ask", [answer])).command();
    let server = ServerConfig::stdio(SERVER.parse().expect("a name"), transport(&process));
    let host = Host::ready(server.era(era)).await;
    let outcome = host.call("ask").await;
    host.end().await;
    (outcome, process)
}

/// B6
#[tokio::test]
async fn rounds_without_end_come_to_one() {
    for (requests, why) in [
        (json!({"a": form("again?")}), "questions"),
        (json!({}), "postponements"),
    ] {
        let (outcome, process) = call(required(&requests, "\"s\""), Era::Modern).await;
        let error = outcome.expect_err(why);
        assert_eq!(
            error.code(),
            ErrorCode::InputRequiredRoundsExceeded,
            "{why}"
        );
        assert_eq!(params(&process, "tools/call").len(), 10, "{why}");
    }
}

/// B6, E1
#[tokio::test]
async fn without_anybody_to_be_asked_it_is_declined() {
    let (_, process) = call(required(&json!({"a": form("?")}), "null"), Era::Modern).await;
    let second = &params(&process, "tools/call")[1];
    assert_eq!(
        second["inputResponses"],
        json!({"a": {"action": "decline"}})
    );
    assert!(second.get("requestState").is_none(), "{second}");
}

/// B6, T1
#[tokio::test]
async fn what_cannot_be_answered_fails_the_call() {
    for (requests, says) in [
        (json!({"a": {"method": "roots/list"}}), "roots/list"),
        (
            json!({"a": {"method": "elicitation/create", "params": 7}}),
            "`a`",
        ),
        (json!(null), "which"),
    ] {
        let (outcome, process) = call(required(&requests, "null"), Era::Modern).await;
        let error = outcome.expect_err(says);
        assert_eq!(error.code(), ErrorCode::UnexpectedResponse);
        let kind = error.request().map(|request| request.kind());
        assert!(
            matches!(kind, Some(RequestErrorKind::Input(_))),
            "{error:?}"
        );
        let text = ErrorChain(&error).to_string();
        assert!(text.contains(says), "{text}");
        assert_eq!(params(&process, "tools/call").len(), 1);
    }
}

/// B5: the older era knows no rounds, so there it is a result like others.
#[tokio::test]
async fn a_server_of_the_older_era_may_say_what_it_likes() {
    let (outcome, _) = call(required(&json!({}), "\"s\""), Era::Legacy).await;
    let output = outcome.expect("a result");
    assert!(output.raw().get().contains("input_required"));
}

/// B4
#[tokio::test]
async fn a_dropped_call_takes_its_question_back() {
    let script = modern().rule(answers_once(required(&json!({"a": form("?")}), "\"s\"")));
    let (host, _process, mut person) = play(&script, Era::Modern).await;
    let call = tokio::spawn(host.prepare("ask").execute(CallOptions::new()));
    let mut question = person.question().await;
    call.abort();
    question.taken_back().await;
    host.end().await;
}

/// B6: a server may die while a person is thinking.
#[tokio::test]
async fn a_server_that_dies_between_rounds_fails_the_call() {
    let last = [required(&json!({"a": form("?")}), "\"s\""), Action::Exit(3)];
    let script = modern().rule(Rule::on_tool("ask", last));
    let (host, process, mut person) = play(&script, Era::Modern).await;
    let call = tokio::spawn(host.prepare("ask").execute(CallOptions::new()));
    let question = person.question().await;
    let gone = || {
        matches!(
            host.state(SERVER),
            ServerState::Ready {
                era: SpokenEra::Modern,
                ..
            }
        )
    };
    while process.log().alive() != [0_u32; 0] && gone() {
        tokio::task::yield_now().await;
    }
    question.answer(ElicitationAnswer::accept());
    let error = at_once(call)
        .await
        .expect("no panic")
        .expect_err("it is gone");
    assert_eq!(error.code(), ErrorCode::TransportClosed, "{error:?}");
    host.end().await;
}

/// B6, P1
#[tokio::test]
async fn a_resource_is_read_in_rounds_too() {
    let contents = Action::Result(json!({"contents": [{"uri": "a:b", "text": "A"}]}));
    let asks = required(&json!({"a": form("may I?")}), "\"s\"");
    let script = modern()
        .rule(Rule::on("resources/read", [asks]).times(1))
        .rule(Rule::on("resources/read", [contents]));
    let (host, process, mut person) = play(&script, Era::Modern).await;
    let reading = host
        .runtime
        .read_resource(SERVER, "a:b", QueryOptions::new());
    let answering = async { person.question().await.answer(ElicitationAnswer::accept()) };
    let (read, asked) = tokio::join!(at_once(reading), answering);
    assert_eq!(read.expect("contents").contents().len(), 1);
    assert_eq!(asked.call(), None);
    let second = &params(&process, "resources/read")[1];
    let accepted = json!({"a": {"action": "accept", "content": {}}});
    assert_eq!(
        (&second["inputResponses"], &second["requestState"]),
        (&accepted, &json!("s"))
    );
    host.end().await;
}
