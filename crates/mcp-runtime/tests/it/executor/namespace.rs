//! Two environments that really differ: this machine, and a network of its own with processes of its own (R4, R6, S8, E1).

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use mcp_runtime::{
    CallOptions, CommandExecutor, ElicitationAnswer, Environment, Era, MultiEnvironment,
    QueryOptions, Quoting, SandboxState, ServerConfig, StdioTransport,
};
use mcp_testkit::{Action, Handshake, Rule, Script, ServerProcess};
use serde_json::json;

use crate::host::{Host, at_once, builder, with_tool};
use crate::pair::docs_in;
use crate::person::person;

/// Ways into namespaces of one's own, with the rights of an administrator and without. Whoever waits there for the server
/// takes it along.
const WAYS: [&[&str]; 2] = [
    &["unshare", "--net", "--pid", "--fork", "--kill-child"],
    &[
        "unshare",
        "--map-root-user",
        "--net",
        "--pid",
        "--fork",
        "--kill-child",
    ],
];

/// The way that this machine allows.
fn way() -> Option<&'static [&'static str]> {
    let works = |way: &&&[&str]| {
        let mut command = Command::new(way[0]);
        command.args(&way[1..]).arg("true").stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    WAYS.iter().find(works).copied()
}

/// A server `docs` that says where it is in everything it says, and has a child that does not end by itself.
fn docs(place: &str) -> ServerProcess {
    let text = |text: &str| json!({"content": [{"type": "text", "text": text}]});
    let form = json!({"message": place, "requestedSchema": {"type": "object"}});
    let ask = Action::Ask {
        method: "elicitation/create".into(),
        params: form,
    };
    let capabilities =
        json!({"tools": {}, "resources": {}, "experimental": {"codex/sandbox-state": {}}});
    let script = Script::new().handshake(Handshake::new().capabilities(capabilities));
    let script = with_tool(script, "where", [Action::Result(text(place))]);
    let script = with_tool(script, "ask", [ask, Action::Standard]);
    let contents = json!({"contents": [{"uri": "mem://a", "text": place}]});
    let resources = json!({"resources": [{"uri": format!("mem://{place}")}]});
    let child = Action::SpawnGrandchild {
        own_group: true,
        holds_output: false,
    };
    script
        .rule(Rule::at_start([child]))
        .rule(Rule::on("resources/list", [Action::Result(resources)]))
        .rule(Rule::on("resources/read", [Action::Result(contents)]))
        .command()
}

/// The server, which first writes down in which network it is.
fn noting(process: &ServerProcess, note: &Path) -> ServerConfig {
    const NOTE: &str = r#"readlink /proc/self/ns/net > "$0"; exec "$@""#;
    let path = |path: &Path| path.to_str().expect("test paths are text").to_owned();
    let own = process.args().into_iter();
    let own = own.map(|arg| arg.into_string().expect("test paths are text"));
    let shell = [
        "-c".to_owned(),
        NOTE.to_owned(),
        path(note),
        path(process.program()),
    ];
    let transport = StdioTransport::new("sh").args(shell.into_iter().chain(own));
    let name = "docs".parse().expect("a server name");
    ServerConfig::stdio(name, transport).era(Era::Legacy)
}

/// How many processes are in a network.
fn population(network: &str) -> usize {
    let processes = fs::read_dir("/proc").expect("a process table").flatten();
    let networks = processes.filter_map(|entry| fs::read_link(entry.path().join("ns/net")).ok());
    networks
        .filter(|other| other.to_str() == Some(network))
        .count()
}

fn state(place: &str) -> SandboxState {
    serde_json::from_str(&format!("{{\"of\":\"{place}\"}}")).expect("any JSON")
}

/// R4, R6, P1, S8, E1
#[tokio::test]
async fn a_machine_and_a_network_of_its_own_are_two_environments() {
    let Some(way) = way() else {
        let note = "skipped: this machine lets nobody into namespaces of their own";
        return std::io::Write::write_all(&mut std::io::stderr(), note.as_bytes()).expect("stderr");
    };
    let directory = tempfile::tempdir().expect("a directory");
    let note = |place: &str| directory.path().join(place);
    let places = ["here", "there"];
    let [here, there] = places.map(docs);
    let executor = CommandExecutor::new(way.iter().copied(), Quoting::None).expect("a command");
    let environment = |place: &str, process| {
        Environment::new(place.parse().expect("an id"))
            .sandbox_state(state(place))
            .server(noting(process, &note(place)))
    };
    let (handler, mut person) = person();
    let builder = builder()
        .elicitation(handler)
        .multi_environment(MultiEnvironment::On)
        .environment(environment("here", &here))
        .environment(environment("there", &there).executor(executor));
    let host = Host::begin(builder).settled().await;
    let networks = places.map(|place| {
        let network = fs::read_to_string(note(place)).expect("it has written it down");
        network.trim_end().to_owned()
    });
    assert_ne!(networks[0], networks[1], "they really differ");
    assert!(population(&networks[1]) >= 2, "the server and its child");

    let binding = host.runtime.capture();
    let call = |place, tool| {
        let call = binding.prepare_tool("docs", Some(place), tool);
        at_once(call.expect("it is listed").execute(CallOptions::new()))
    };
    for (place, process) in places.into_iter().zip([&here, &there]) {
        let output = call(place, "where").await.expect("it answers");
        assert_eq!(output.text(), place);
        let answering = async { person.question().await.answer(ElicitationAnswer::accept()) };
        let (output, asked) = tokio::join!(call(place, "ask"), answering);
        output.expect("it answers");
        assert_eq!((asked.server(), asked.message()), (&docs_in(place), place));
        let shown = asked
            .permissions()
            .sandbox_state()
            .map(|state| state.as_raw().get());
        assert_eq!(shown, Some(state(place).as_raw().get()));
        let server = ("docs", Some(place));
        let reading = host
            .runtime
            .read_resource(server, "mem://a", QueryOptions::new());
        let read = at_once(reading).await.expect("it is read");
        assert!(read.contents()[0].get().contains(place), "{read:?}");
        let messages = process.log().messages();
        let calls: Vec<_> = messages
            .iter()
            .filter(|message| message["method"] == "tools/call")
            .map(|call| call["params"]["_meta"]["codex/sandbox-state"]["of"].clone())
            .collect();
        assert_eq!(calls, [place, place], "both calls, under its own state");
    }
    let (all, errors) = at_once(host.runtime.list_all_resources(QueryOptions::new())).await;
    assert!(errors.is_empty(), "{errors:?}");
    let all: Vec<_> = all
        .iter()
        .map(|found| (found.server().clone(), found.uri()))
        .collect();
    assert_eq!(
        all,
        [
            (docs_in("here"), "mem://here"),
            (docs_in("there"), "mem://there")
        ]
    );

    host.end().await;
    assert_eq!(population(&networks[1]), 0, "its processes died with it");
    here.log().expect_all_gone().await;
}
