//! What servers want to know from a person (E1, B3, B4).

use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use mcp_runtime::{
    CallOptions, Elicitation, ElicitationAnswer, ElicitationHandler, ElicitationMode, ErrorCode,
    McpRuntime, ServerConfig, ServerState,
};
use mcp_testkit::{Action, Rule, Script, ServerLog, ServerProcess};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::host::{Host, SERVER, at_once, builder, logged, raw, stdio, with_tool};
use crate::person::{Person, person};

fn form() -> Value {
    json!({"message": "who?", "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}}})
}

/// Asks, and goes on when that is answered.
fn ask(params: Value) -> Action {
    Action::Ask {
        method: "elicitation/create".into(),
        params,
    }
}

/// Asks, and does not wait.
fn ask_aside() -> Action {
    Action::Send(
        json!({"jsonrpc": "2.0", "id": "aside", "method": "elicitation/create", "params": form()}),
    )
}

/// A server whose tool `ask` asks before it answers, and one of each other kind.
fn curious() -> Script {
    let script = with_tool(Script::new(), "ask", [ask(form()), Action::Standard]);
    with_tool(script, "mute", []).tool_named("good")
}

/// A ready host with this handler.
async fn ready(server: ServerConfig, handler: impl ElicitationHandler) -> Host {
    let host = Host::begin(builder().elicitation(handler).server(server));
    at_once(host.runtime.settled()).await;
    let state = host.state(SERVER);
    assert!(matches!(state, ServerState::Ready { .. }), "{state:?}");
    host
}

async fn play(script: &Script) -> (Host, ServerProcess, Person) {
    let process = script.command();
    let (handler, person) = person();
    let host = ready(stdio(SERVER, &process), handler).await;
    (host, process, person)
}

/// The answer to a request of the server's own, as it was written.
fn answer(log: &ServerLog, id: &str) -> Option<String> {
    let of = format!("\"id\":\"{id}\",");
    log.lines().into_iter().find(|line| line.contains(&of))
}

/// Waits until the server has this answer to its request.
async fn answered(log: &ServerLog, id: &str, expected: &str) {
    logged(log, |log| answer(log, id).is_some()).await;
    let answer = answer(log, id).expect("it was just there");
    assert!(answer.contains(expected), "{answer}");
}

async fn check(params: Value, person_says: ElicitationAnswer, server_reads: &str) -> Elicitation {
    let script = with_tool(Script::new(), "ask", [ask(params), Action::Standard]);
    let (host, process, mut person) = play(&script).await;
    let call = host.prepare("ask");
    let id = call.id();
    let answering = async { person.question().await.answer(person_says) };
    let call = at_once(call.execute(CallOptions::new()));
    let (output, elicitation) = tokio::join!(call, answering);
    assert_eq!(output.unwrap().text(), "ask");
    assert_eq!(elicitation.call(), Some(id), "it is the only call");
    answered(&process.log(), "server-1", server_reads).await;
    host.end().await;
    elicitation
}

/// E1, W1: to the spelling of numbers.
#[tokio::test]
async fn what_a_person_answers_reaches_the_server() {
    let content = r#"{"name":"Ada","n":1e2,"id":123456789012345678901234567890}"#;
    let accepted = ElicitationAnswer::accept_with(raw(content)).unwrap();
    let reads = format!(r#""result":{{"action":"accept","content":{content}}}"#);
    let asked = check(form(), accepted, &reads).await;
    assert_eq!(asked.server().name().as_str(), SERVER);
    assert_eq!(asked.message(), "who?");
    let ElicitationMode::Form { schema } = asked.mode() else {
        panic!("{asked:?}")
    };
    assert_eq!(schema.get(), form()["requestedSchema"].to_string());
    assert_eq!(asked.params().get(), form().to_string());
    let declined = r#""result":{"action":"decline"}"#;
    check(form(), ElicitationAnswer::decline(), declined).await;
    let cancelled = r#""result":{"action":"cancel"}"#;
    check(form(), ElicitationAnswer::cancel(), cancelled).await;
}

/// E1
#[tokio::test]
async fn a_page_to_visit_is_shown_before_it_is_opened() {
    let params = json!({"mode": "url", "message": "pay", "url": "https://pay.example/1?a=b", "elicitationId": "e-1"});
    let accepted = r#""result":{"action":"accept"}"#;
    let asked = check(params, ElicitationAnswer::accept(), accepted).await;
    let ElicitationMode::Url { url, id } = asked.mode() else {
        panic!("{asked:?}")
    };
    assert_eq!(url.as_str(), "https://pay.example/1?a=b");
    assert_eq!(id.as_deref(), Some("e-1"));
}

/// E1: what is offered is what is answered.
#[tokio::test]
async fn elicitation_is_offered_where_there_is_a_handler() {
    let offered = |log: &ServerLog| {
        let messages = log.messages();
        let initialize = messages
            .iter()
            .find(|message| message["method"] == "initialize");
        initialize.expect("a handshake")["params"]["capabilities"].clone()
    };
    let (host, process, _person) = play(&curious()).await;
    assert_eq!(
        offered(&process.log()),
        json!({"elicitation": {"form": {}, "url": {}}})
    );
    host.end().await;
    let (host, process) = Host::play(&curious()).await;
    assert_eq!(offered(&process.log()), json!({}));
    host.end().await;
}

/// E1: some servers ask before they answer, and answer only then.
#[tokio::test]
async fn a_server_may_ask_a_person_before_it_has_shaken_hands() {
    let script = Script::new().rule(Rule::on("initialize", [ask(form()), Action::Standard]));
    let process = script.command();
    let (handler, mut person) = person();
    let server = stdio(SERVER, &process);
    let host = Host::begin(builder().elicitation(handler).server(server));
    let question = person.question().await;
    assert_eq!(question.elicitation.call(), None);
    assert!(matches!(host.state(SERVER), ServerState::Starting));
    question.answer(ElicitationAnswer::decline());
    at_once(host.runtime.settled()).await;
    assert!(matches!(host.state(SERVER), ServerState::Ready { .. }));
    host.end().await;
}

/// E1
#[tokio::test]
async fn a_handler_that_panics_costs_its_own_question() {
    let process = curious().command();
    let handler = async |_: Elicitation| -> ElicitationAnswer { panic!("a fault of the host's") };
    let host = ready(stdio(SERVER, &process), handler).await;
    for _ in 0..2 {
        assert_eq!(host.call("ask").await.unwrap().text(), "ask");
    }
    for id in ["server-1", "server-2"] {
        answered(&process.log(), id, r#""error":{"code":-32603"#).await;
    }
    host.end().await;
}

/// Budgets with room for a busy machine, and a person who never answers.
const BUDGET: Duration = Duration::from_secs(2);
const PATIENCE: Duration = Duration::from_secs(3);

async fn never_answered(script: &Script) -> (Host, ServerProcess, Person) {
    let process = script.command();
    let (handler, person) = person();
    let server = stdio(SERVER, &process).tool_timeout(BUDGET);
    let host = ready(server.interaction_timeout(PATIENCE), handler).await;
    (host, process, person)
}

/// B3, E1: the call outlives its budget, since the time is the person's.
#[tokio::test]
async fn a_question_that_nobody_answers_is_cancelled_and_its_time_is_not_the_calls() {
    let (host, process, mut person) = never_answered(&curious()).await;
    let begun = Instant::now();
    assert_eq!(host.call("ask").await.unwrap().text(), "ask");
    assert!(begun.elapsed() >= PATIENCE, "{:?}", begun.elapsed());
    answered(
        &process.log(),
        "server-1",
        r#""result":{"action":"cancel"}"#,
    )
    .await;
    person.question().await.taken_back().await;
    host.end().await;
}

/// B3: while nobody can tell whose question it is, every clock stands still; what then runs out is the same as ever.
#[tokio::test]
async fn a_question_among_several_calls_holds_them_all() {
    let (host, process, mut person) = never_answered(&curious()).await;
    let begun = Instant::now();
    let mute = host.call("mute");
    let asking = async {
        process.log().expect("tools/call", 1).await;
        host.call("ask").await.unwrap();
    };
    let asked = async {
        let question = person.question().await;
        assert_eq!(question.elicitation.call(), None);
        question
    };
    let (mute, (), _question) = tokio::join!(mute, asking, asked);
    let error = mute.unwrap_err();
    assert_eq!(error.code(), ErrorCode::RequestTimeout);
    let elapsed = error.request().and_then(|request| request.elapsed());
    assert_eq!(elapsed.map(|elapsed| elapsed.budget()), Some(BUDGET));
    assert!(
        begun.elapsed() >= BUDGET + PATIENCE,
        "{:?}",
        begun.elapsed()
    );
    host.end().await;
}

/// E1: nothing is locked while a person is asked.
#[tokio::test]
async fn a_handler_may_call_the_server_that_asks() {
    let process = curious().command();
    let place = Arc::new(OnceLock::<Weak<McpRuntime>>::new());
    let runtime = place.clone();
    let handler = move |_: Elicitation| {
        let runtime = runtime
            .get()
            .and_then(Weak::upgrade)
            .expect("it is under test");
        async move {
            let call = runtime
                .capture()
                .prepare_tool(SERVER, None, "good")
                .unwrap();
            let good = call.execute(CallOptions::new()).await.unwrap();
            let content = raw(&json!({"name": good.text()}).to_string());
            ElicitationAnswer::accept_with(content).unwrap()
        }
    };
    let builder = builder().server(stdio(SERVER, &process));
    let (runtime, _events) = builder.elicitation(handler).start().unwrap();
    let runtime = Arc::new(runtime);
    place.set(Arc::downgrade(&runtime)).unwrap();
    at_once(runtime.settled()).await;
    let call = runtime.capture().prepare_tool(SERVER, None, "ask").unwrap();
    let output = at_once(call.execute(CallOptions::new())).await.unwrap();
    assert_eq!(output.text(), "ask");
    answered(&process.log(), "server-1", r#""content":{"name":"good"}"#).await;
    at_once(runtime.shutdown(McpRuntime::DEFAULT_SHUTDOWN_TIMEOUT)).await;
}

/// B4: and the server is not left without an answer.
#[tokio::test]
async fn a_dropped_call_takes_its_question_back() {
    let (host, process, mut person) = play(&curious()).await;
    let mut question = {
        let call = host.prepare("ask").execute(CallOptions::new());
        tokio::select! {
            outcome = call => panic!("it cannot end: {outcome:?}"),
            question = person.question() => question,
        }
    };
    question.taken_back().await;
    process.log().expect("notifications/cancelled", 1).await;
    answered(
        &process.log(),
        "server-1",
        r#""result":{"action":"cancel"}"#,
    )
    .await;
    assert_eq!(host.call("good").await.unwrap().text(), "good");
    host.end().await;
}

/// R10
#[tokio::test]
async fn a_server_that_dies_takes_its_question_back() {
    let script = with_tool(Script::new(), "ask", [ask_aside()]);
    let script = with_tool(script, "die", [Action::Exit(3)]);
    let (host, _process, mut person) = play(&script).await;
    let dying = async {
        let mut question = person.question().await;
        let died = host.call("die").await;
        question.taken_back().await;
        died
    };
    let (asked, died) = tokio::join!(host.call("ask"), dying);
    for outcome in [asked, died] {
        assert_eq!(outcome.unwrap_err().code(), ErrorCode::TransportClosed);
    }
    host.end().await;
}

/// R11
#[tokio::test]
async fn a_shutdown_takes_every_question_back() {
    let (host, process, mut person) = play(&curious()).await;
    let ending = async {
        let mut question = person.question().await;
        host.end().await;
        question.taken_back().await;
    };
    let (asked, ()) = tokio::join!(host.call("ask"), ending);
    assert_eq!(asked.unwrap_err().code(), ErrorCode::TransportClosed);
    process.log().expect_all_gone().await;
}
