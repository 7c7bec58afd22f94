//! Child processes that start, fail, answer and die, with secrets in every place.

use std::time::Duration;

use mcp_runtime::{
    ElicitationAnswer, Environment, Era, SandboxState, ServerConfig, ServerState, StdioTransport,
};
use mcp_testkit::{Action, Handshake, Rule, Script, ServerProcess};
use serde_json::{Value, json};

use super::witness::{Secret, Witness};
use super::{INHERITED, inherited, options, options_secrets};
use crate::host::{Host, SERVER, at_once, builder, logged, raw, with_tool};

const ARGUMENT: &str = "hush-argument-of-the-command";
const VALUE: &str = "hush-value-in-the-environment";
const STATE: &str = "hush-path-in-a-sandbox";
const ANSWER: &str = "hush-answer-of-a-person";

fn secrets() -> Vec<Secret> {
    let mut secrets = options_secrets();
    secrets.extend([
        ("the arguments of the command", ARGUMENT.to_owned()),
        ("the environment", VALUE.to_owned()),
        ("a variable that is passed through", inherited()),
        ("a sandbox state", STATE.to_owned()),
        ("an answer of a person", ANSWER.to_owned()),
    ]);
    secrets
}

/// A server that is started with secrets.
fn guarded(command: StdioTransport) -> ServerConfig {
    let transport = command.env("API_TOKEN", VALUE).env_var(INHERITED);
    ServerConfig::stdio(SERVER.parse().expect("a server name"), transport).era(Era::Legacy)
}

fn played(process: &ServerProcess) -> ServerConfig {
    let text = |path: std::ffi::OsString| path.into_string().expect("test paths are text");
    let args = process.args().into_iter().map(text);
    let command = StdioTransport::new(text(process.program().into()));
    guarded(command.args(args.chain([ARGUMENT.to_owned()])))
}

/// A host in whose environment the server is, with a sandbox state and with a person who answers.
fn begin(server: ServerConfig) -> Host {
    let state = json!({"writable": [STATE]}).to_string();
    let state = SandboxState::new(raw(&state));
    let environment = Environment::new("devbox".parse().expect("an id"));
    let answer = || {
        let content = raw(&json!({"token": ANSWER}).to_string());
        ElicitationAnswer::accept_with(content).expect("an object")
    };
    Host::begin(
        builder()
            .environment(environment.sandbox_state(state).server(server))
            .elicitation(move |_| async move { answer() }),
    )
}

/// A server that does not become ready.
async fn fails(witness: &mut Witness, why: &str, server: ServerConfig) {
    witness.sees(&server);
    let mut host = begin(server);
    witness.visits(&mut host);
    at_once(host.runtime.settled()).await;
    let state = host.state(SERVER);
    assert!(
        matches!(state, ServerState::Failed { .. }),
        "{why}: {state:?}"
    );
    witness.visits(&mut host);
    witness.sees(&host.end().await);
}

#[tokio::test]
async fn a_start_that_fails_shows_no_secret() {
    let mut witness = Witness::new();
    let file = tempfile::NamedTempFile::new().expect("a file");
    let no_program = file.path().to_str().expect("test paths are text");
    let not_there = StdioTransport::new("no-such-program-anywhere").args([ARGUMENT]);
    fails(&mut witness, "not there", guarded(not_there.clone())).await;
    let nowhere = not_there.cwd("/no/such/directory/anywhere");
    fails(&mut witness, "no directory", guarded(nowhere)).await;
    let refused = StdioTransport::new(no_program).args([ARGUMENT]);
    fails(&mut witness, "no program", guarded(refused)).await;

    let old = Handshake::new().protocol_version("1999-01-01");
    let refusal = || Action::Error {
        code: -32_000,
        message: "no".into(),
        data: Value::Null,
    };
    let cut = || Action::stdout(br#"{"jsonrpc":"2.0","id":$id,"result":{"#);
    let end = || Action::stdout("\n");
    let rows = [
        (Rule::at_start([Action::Exit(3)]), "it exits"),
        (
            Rule::at_start([Action::stdout("usage: x\n"), Action::Exit(0)]),
            "it says what it wants",
        ),
        (Rule::on("initialize", [Action::Kill]), "it is killed"),
        (Rule::on("initialize", [refusal()]), "it refuses"),
        (Rule::on("initialize", [cut(), end()]), "it writes no JSON"),
        (
            Rule::on("initialize", [Action::Result(json!([]))]),
            "it answers anything",
        ),
        (Rule::on("initialize", []), "it does not answer"),
        (Rule::on("tools/list", [refusal()]), "it lists nothing"),
        (Rule::on("tools/list", [cut(), end()]), "its list is cut"),
        (
            Rule::on("tools/list", [Action::Exit(1)]),
            "its list is its end",
        ),
        (Rule::on("tools/list", []), "it does not list"),
    ];
    let scripts = rows
        .into_iter()
        .map(|(rule, why)| (Script::new().rule(rule), why));
    let versioned = (Script::new().handshake(old), "it speaks another version");
    for (script, why) in scripts.chain([versioned]) {
        let process = script.command();
        let server = played(&process).startup_timeout(Duration::from_secs(2));
        fails(&mut witness, why, server).await;
    }
    let process = Script::new().rule(Rule::on("initialize", [])).command();
    let mut host = begin(played(&process));
    process.log().expect("initialize", 1).await;
    witness.visits(&mut host);
    host.end().await;
    witness.visits(&mut host);
    witness.has_seen_none_of(&secrets());
}

/// A server with one tool for each thing that can become of a call.
fn script() -> Script {
    let answer = |id: &str| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":");
    let question = json!({"message": "token?", "requestedSchema": {"type": "object"}});
    let ask = Action::Ask {
        method: "elicitation/create".into(),
        params: question,
    };
    let refusal = Action::Error {
        code: -32_602,
        message: "no".into(),
        data: json!({"try": 1}),
    };
    let odd = "{\"jsonrpc\":\"2.0\",\"id\":\"o\",\"method\":\"elicitation/create\",\"params\":7}\n";
    let capabilities = json!({"tools": {}, "experimental": {"codex/sandbox-state": {}}});
    let rows: [(&str, Vec<Action>); 9] = [
        ("asks", vec![ask, Action::Standard]),
        ("odd", vec![Action::stdout(odd), Action::Standard]),
        (
            "noisy",
            vec![
                Action::stdout("hello\n"),
                Action::Stderr("oh".into()),
                Action::Standard,
            ],
        ),
        (
            "fails",
            vec![Action::Result(json!({"isError": true, "content": []}))],
        ),
        ("refuses", vec![refusal]),
        (
            "cut",
            vec![Action::stdout(answer("$id")), Action::stdout("\n")],
        ),
        ("text", vec![Action::Result(json!("done"))]),
        ("mute", Vec::new()),
        ("dies", vec![Action::Exit(9)]),
    ];
    let script = Script::new().handshake(Handshake::new().capabilities(capabilities));
    let script = script.tool_named("good");
    rows.into_iter()
        .fold(script, |script, (tool, run)| with_tool(script, tool, run))
}

#[tokio::test]
async fn a_call_shows_no_secret_whatever_becomes_of_it() {
    let mut witness = Witness::new();
    let process = script().command();
    let server = played(&process);
    witness.sees(&server);
    let mut host = begin(server);
    at_once(host.runtime.settled()).await;
    witness.sees(&options());
    let short = || options().timeout(Duration::from_millis(300));
    for tool in ["good", "asks", "odd", "noisy", "fails"] {
        let output = host.call_with(tool, options()).await;
        witness.sees(&output.expect("it answers"));
    }
    for tool in ["refuses", "cut", "text", "mute"] {
        let error = host.call_with(tool, short()).await;
        witness.reads(&error.expect_err("it does not answer"));
    }
    let array = raw(&json!([super::ARGUMENT]).to_string());
    for options in [options().arguments(array.clone()), options().meta(array)] {
        let error = host.call_with("good", options).await;
        witness.reads(&error.expect_err("nothing is sent"));
    }
    let dropped = host.prepare("mute").execute(options());
    let log = process.log();
    tokio::select! {
        outcome = dropped => panic!("it cannot end: {outcome:?}"),
        () = logged(&log, |log| log.count_calls("mute") == 2) => witness.visits(&mut host),
    }
    let prepared = host.prepare("good");
    let error = host.call_with("dies", options()).await;
    witness.reads(&error.expect_err("it died"));
    let error = at_once(prepared.execute(options())).await;
    witness.reads(&error.expect_err("it is dead"));
    witness.visits(&mut host);
    host.end().await;
    witness.visits(&mut host);
    let sent = json!(process.log().entries()).to_string();
    for (place, secret) in secrets() {
        assert!(sent.contains(&secret), "{place}: the server was never told");
    }
    witness.has_seen_none_of(&secrets());
}
