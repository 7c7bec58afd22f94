//! Under which permissions a server asks (E1).

use mcp_runtime::{
    CallOptions, ElicitationAnswer, ElicitationPolicy, Environment, EnvironmentId, Era,
    MultiEnvironment, SandboxState, ServerConfig,
};
use mcp_testkit::{Action, Handshake, Rule, Script, ServerProcess};
use serde_json::{Value, json};

use crate::host::{Host, at_once, builder, logged, stdio, transport, with_tool};
use crate::person::{Person, person};

const ASK: ElicitationPolicy = ElicitationPolicy::Ask;
const DECLINE: ElicitationPolicy = ElicitationPolicy::Decline;

fn id(text: &str) -> EnvironmentId {
    text.parse().expect("an environment id")
}

fn state(json: &str) -> SandboxState {
    serde_json::from_str(json).expect("any JSON")
}

fn form() -> Value {
    json!({"message": "who?", "requestedSchema": {"type": "object"}})
}

/// A server whose tool `ask` asks before it answers.
fn curious() -> Script {
    let ask = Action::Ask {
        method: "elicitation/create".into(),
        params: form(),
    };
    with_tool(Script::new(), "ask", [ask, Action::Standard])
}

/// A host with the environments `local` and `devbox`, a server `docs` in each of them and one of its own.
struct Scene {
    host: Host,
    person: Person,
    own: ServerProcess,
    local: ServerProcess,
    devbox: ServerProcess,
}

impl Scene {
    async fn start(local: ElicitationPolicy, devbox: ElicitationPolicy) -> Self {
        let [own, here, there] = [(); 3].map(|()| curious().command());
        let (handler, person) = person();
        let environment = |name: &str, process: &ServerProcess, policy| {
            Environment::new(id(name))
                .server(stdio("docs", process))
                .elicitation(policy)
                .sandbox_state(state(&format!("{{\"of\":\"{name}\"}}")))
        };
        let builder = builder()
            .elicitation(handler)
            .multi_environment(MultiEnvironment::On)
            .server(stdio("docs", &own))
            .environment(environment("local", &here, local))
            .environment(environment("devbox", &there, devbox));
        Self {
            host: Host::begin(builder).settled().await,
            person,
            own,
            local: here,
            devbox: there,
        }
    }

    /// Calls `ask` of `docs`, which is allowed to ask under this state, or declined.
    async fn check(&mut self, environment: Option<&str>, expected: Option<&str>, why: &str) {
        let binding = self.host.runtime.capture();
        let call = binding.prepare_tool("docs", environment, "ask");
        let call = call.expect("it is listed").execute(CallOptions::new());
        let Some(expected) = expected else {
            at_once(call).await.expect("it answers");
            return self.check_declined(environment, why).await;
        };
        let answering = async {
            let question = self.person.question().await;
            question.answer(ElicitationAnswer::accept())
        };
        let (output, asked) = tokio::join!(at_once(call), answering);
        output.expect("it answers");
        let permissions = asked.permissions();
        assert_eq!(permissions.elicitation(), ASK, "{why}");
        let shown = permissions
            .sandbox_state()
            .map(|state| state.as_raw().get());
        assert_eq!(shown, Some(expected), "{why}");
    }

    async fn check_declined(&self, environment: Option<&str>, why: &str) {
        let process = match environment {
            None => &self.own,
            Some("local") => &self.local,
            Some(_) => &self.devbox,
        };
        let lines = process.log().lines();
        let answers: Vec<_> = lines
            .iter()
            .filter(|line| line.contains("\"server-"))
            .collect();
        let last = answers.last().expect("it was answered");
        assert!(last.contains(r#"{"action":"decline"}"#), "{why}: {last}");
    }
}

/// E1: the owning environment's, never the primary's by accident.
#[tokio::test]
async fn a_server_asks_under_the_permissions_of_the_environment_that_owns_it() {
    let (local, devbox) = (r#"{"of":"local"}"#, r#"{"of":"devbox"}"#);
    let mut scene = Scene::start(ASK, ASK).await;
    scene.check(Some("local"), Some(local), "its own").await;
    scene
        .check(Some("devbox"), Some(devbox), "its own, not the primary's")
        .await;
    scene
        .check(None, Some(local), "the host's, under the primary's")
        .await;
    scene.host.end().await;
    let mut scene = Scene::start(DECLINE, ASK).await;
    scene.check(Some("local"), None, "declined").await;
    scene.check(None, None, "the primary one declines").await;
    scene
        .check(Some("devbox"), Some(devbox), "and the other one does not")
        .await;
    scene.host.end().await;
    let mut scene = Scene::start(ASK, DECLINE).await;
    scene.check(Some("devbox"), None, "declined").await;
    scene.check(None, Some(local), "the primary one asks").await;
    scene.host.end().await;
}

/// E1, B1: those of the call's binding.
#[tokio::test]
async fn a_call_asks_under_the_permissions_that_its_binding_captured() {
    let mut scene = Scene::start(ASK, ASK).await;
    let runtime = &scene.host.runtime;
    let prepare = || {
        let binding = runtime.capture();
        binding
            .prepare_tool("docs", Some("devbox"), "ask")
            .expect("it is listed")
    };
    let before = prepare();
    runtime.set_elicitation(&id("devbox"), DECLINE).unwrap();
    runtime
        .set_sandbox_state(&id("devbox"), Some(state("2")))
        .unwrap();
    let after = prepare();
    let answering = async {
        let question = scene.person.question().await;
        question.answer(ElicitationAnswer::accept())
    };
    let (output, asked) = tokio::join!(at_once(before.execute(CallOptions::new())), answering);
    output.expect("it answers");
    let shown = asked
        .permissions()
        .sandbox_state()
        .map(|state| state.as_raw().get());
    assert_eq!(shown, Some(r#"{"of":"devbox"}"#));
    at_once(after.execute(CallOptions::new()))
        .await
        .expect("it answers");
    scene.check_declined(Some("devbox"), "captured later").await;
    let unknown = runtime.set_elicitation(&id("moon"), ASK).unwrap_err();
    assert!(unknown.to_string().contains("`moon`"), "{unknown}");
    scene.host.end().await;
}

/// E1: where no call can be told, those that there are now.
#[tokio::test]
async fn what_is_asked_for_no_call_is_asked_under_the_permissions_of_now() {
    let ask =
        json!({"jsonrpc": "2.0", "id": "aside", "method": "elicitation/create", "params": form()});
    let script = Script::new().tool_named("t");
    let script = script.rule(Rule::on(
        "resources/list",
        [Action::Send(ask), Action::Standard],
    ));
    let process = script
        .handshake(Handshake::new().capabilities(json!({"tools": {}, "resources": {}})))
        .command();
    let (handler, mut person) = person();
    let local = Environment::new(id("local")).elicitation(DECLINE);
    let builder = builder().elicitation(handler).environment(local);
    let host = Host::begin(builder.server(stdio("docs", &process)));
    let host = host.settled().await;
    let list = || {
        host.runtime
            .list_resources("docs", None, mcp_runtime::QueryOptions::new())
    };
    let _refused = at_once(list()).await;
    let declined = |count| {
        move |log: &mcp_testkit::ServerLog| {
            let lines = log.lines();
            let answers = lines
                .iter()
                .filter(|line| line.contains("\"id\":\"aside\""));
            answers.filter(|line| line.contains("decline")).count() == count
        }
    };
    logged(&process.log(), declined(1)).await;
    host.runtime.set_elicitation(&id("local"), ASK).unwrap();
    let asking = async { person.question().await.answer(ElicitationAnswer::accept()) };
    let (_refused, asked) = tokio::join!(at_once(list()), asking);
    assert_eq!(asked.call(), None);
    host.end().await;
}

/// B6, E1: in rounds too.
#[tokio::test]
async fn a_call_in_rounds_asks_under_the_permissions_of_its_binding() {
    let discovered = json!({"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, "ttlMs": 0, "cacheScope": "private"});
    let question = json!({"method": "elicitation/create", "params": form()});
    let required = json!({"resultType": "input_required", "inputRequests": {"a": question}});
    let done = json!({"resultType": "complete", "content": []});
    let script = Script::new()
        .tool_named("ask")
        .rule(Rule::on("server/discover", [Action::Result(discovered)]))
        .rule(Rule::on_tool("ask", [Action::Result(required)]).times(1))
        .rule(Rule::on_tool("ask", [Action::Result(done)]));
    let process = script.command();
    let server = ServerConfig::stdio("docs".parse().expect("a name"), transport(&process));
    let (handler, _nobody) = person();
    let local = Environment::new(id("local")).elicitation(DECLINE);
    let builder = builder().elicitation(handler).environment(local);
    let host = Host::begin(builder.server(server.era(Era::Modern)));
    let host = host.settled().await;
    let binding = host.runtime.capture();
    let call = binding
        .prepare_tool("docs", None, "ask")
        .expect("it is listed");
    host.runtime.set_elicitation(&id("local"), ASK).unwrap();
    at_once(call.execute(CallOptions::new()))
        .await
        .expect("it answers");
    let messages = process.log().messages();
    let answers: Vec<_> = messages
        .iter()
        .filter_map(|message| message["params"].get("inputResponses"))
        .collect();
    assert_eq!(answers, [&json!({"a": {"action": "decline"}})]);
    host.end().await;
}
