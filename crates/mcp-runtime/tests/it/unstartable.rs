//! Servers that cannot start: each fails alone, and says what to mend (R1, R2, R3).

use std::time::Duration;

use mcp_runtime::{
    ErrorCode, Phase, RuntimeEvent, ServerConfig, ServerState, StartupError, StdioTransport,
};
use mcp_testkit::{Action, Handshake, Rule, Script, ServerProcess};
use serde_json::{Value, json};

use crate::host::{Host, at_once, stdio, text, transport};
use crate::startup::{answering, is_of};

/// A server that cannot start, and what is to be said about it.
struct Doomed {
    server: ServerConfig,
    code: ErrorCode,
    phase: Phase,
    says: &'static [&'static str],
    stderr: &'static str,
    /// Keeps script and log.
    _process: Option<ServerProcess>,
}

impl Doomed {
    fn new(server: ServerConfig, code: ErrorCode, phase: Phase) -> Self {
        Self {
            server,
            code,
            phase,
            says: &[],
            stderr: "",
            _process: None,
        }
    }

    fn playing(name: &str, script: &Script, code: ErrorCode, phase: Phase) -> Self {
        let process = script.command();
        let server = stdio(name, &process);
        Self {
            _process: Some(process),
            ..Self::new(server, code, phase)
        }
    }

    fn says(self, says: &'static [&'static str]) -> Self {
        Self { says, ..self }
    }

    fn stderr(self, stderr: &'static str) -> Self {
        Self { stderr, ..self }
    }

    #[track_caller]
    fn check(&self, error: &StartupError, told: &[RuntimeEvent]) {
        let name = self.server.name().as_str();
        let message = text(error);
        assert_eq!(
            (error.code(), error.phase()),
            (self.code, self.phase),
            "{message}"
        );
        for part in self.says.iter().chain(&[name]) {
            assert!(
                message.contains(part),
                "{name} does not say {part:?}: {message}"
            );
        }
        assert_eq!(error.stderr_tail(), self.stderr, "{message}");
        let told: Vec<_> = told.iter().filter(|event| is_of(event, name)).collect();
        let [
            RuntimeEvent::Starting { .. },
            RuntimeEvent::Failed {
                code,
                message: shown,
                stderr_tail,
                ..
            },
        ] = told.as_slice()
        else {
            panic!("{name} was told as {told:?}")
        };
        assert_eq!(
            (*code, shown, stderr_tail.as_str()),
            (self.code, &message, self.stderr)
        );
    }
}

/// All of them beside one another and beside a good server: each fails for its own reason, and alone.
async fn check(rows: Vec<Doomed>) {
    let good = Script::new().tool_named("search").command();
    let servers = rows.iter().map(|row| row.server.clone());
    let mut host = Host::serve(servers.chain([stdio("good", &good)]));
    at_once(host.runtime.settled()).await;
    let told = host.told();
    for row in &rows {
        match host.state(row.server.name().as_str()) {
            ServerState::Failed { error, .. } => row.check(&error, &told),
            state => panic!("`{}` is {state:?}", row.server.name()),
        }
    }
    assert_eq!(host.tools(), ["search"]);
    let told: Vec<_> = told.iter().filter(|event| is_of(event, "good")).collect();
    assert!(
        matches!(
            told.as_slice(),
            [
                RuntimeEvent::Starting { .. },
                RuntimeEvent::Ready {
                    tools: 1,
                    shared: false,
                    ..
                }
            ]
        ),
        "{told:?}"
    );
    host.end().await;
    good.log().expect_all_gone().await;
}

fn error() -> Action {
    Action::Error {
        code: -32_001,
        message: "the licence has expired".into(),
        data: Value::Null,
    }
}

/// R1, R3
#[tokio::test]
async fn a_server_that_cannot_be_launched_says_what_to_change() {
    let missing = StdioTransport::new("no-such-program-anywhere");
    let missing = ServerConfig::stdio("missing".parse().unwrap(), missing);
    let process = Script::new().command();
    let lost = transport(&process).cwd("/no/such/directory");
    let lost = ServerConfig::stdio("lost".parse().unwrap(), lost);
    let launch =
        |server, says| Doomed::new(server, ErrorCode::StartupFailed, Phase::Connect).says(says);
    check(vec![
        launch(
            missing,
            &["`no-such-program-anywhere`", "install it", "`command`"],
        ),
        launch(lost, &["`/no/such/directory`", "create it", "`cwd`"]),
    ])
    .await;
    assert_eq!(process.log().pids(), [0; 0]);
}

/// R1, R3
#[tokio::test]
async fn a_server_that_ends_early_says_how_and_with_which_last_words() {
    let words = "cannot open the index";
    let last = |end| [Action::Stderr(words.into()), end];
    let ended = |name, script: Script, phase| {
        Doomed::playing(name, &script, ErrorCode::StartupFailed, phase).stderr(words)
    };
    check(vec![
        ended(
            "early",
            Script::new().rule(Rule::at_start(last(Action::Exit(3)))),
            Phase::Handshake,
        )
        .says(&["with 2 arguments", "exited with status 3"]),
        ended(
            "polite",
            answering("initialize", last(Action::Exit(0))),
            Phase::Handshake,
        )
        .says(&["exited with status 0"]),
        ended(
            "listing",
            answering("tools/list", last(Action::Exit(101))),
            Phase::Listing,
        )
        .says(&["exited with status 101"]),
    ])
    .await;
}

/// R1, R3
#[cfg(unix)]
#[tokio::test]
async fn a_server_that_is_killed_or_falls_silent_says_so() {
    let closing = [Action::CloseOutput];
    let ended = |name, script: Script| {
        Doomed::playing(name, &script, ErrorCode::StartupFailed, Phase::Handshake)
    };
    check(vec![
        ended("killed", answering("initialize", [Action::Kill])).says(&["signal 9"]),
        ended("closed", answering("initialize", closing).ignores_end())
            .says(&["closed its standard output"]),
    ])
    .await;
}

/// R1, R3
#[tokio::test]
async fn a_server_that_answers_wrongly_says_what_is_wrong() {
    let wrong = |name, script: Script, code, phase| Doomed::playing(name, &script, code, phase);
    let unexpected = ErrorCode::UnexpectedResponse;
    let nothing = || [Action::Result(json!({}))];
    let cut = [Action::stdout(
        "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\n",
    )];
    let future = Script::new().handshake(Handshake::new().protocol_version("2099-01-01"));
    let echo = [Action::Send(
        json!({"jsonrpc": "2.0", "id": "$id", "method": "initialize", "params": {}}),
    )];
    check(vec![
        wrong(
            "echoing",
            answering("initialize", echo),
            unexpected,
            Phase::Handshake,
        )
        .says(&["sends back what it is sent", "no MCP server"]),
        wrong(
            "empty",
            answering("initialize", nothing()),
            unexpected,
            Phase::Handshake,
        )
        .says(&["`initialize`", "protocolVersion"]),
        wrong(
            "cut",
            answering("initialize", cut),
            unexpected,
            Phase::Handshake,
        )
        .says(&["not valid JSON"]),
        wrong("future", future, ErrorCode::StartupFailed, Phase::Handshake)
            .says(&["`2099-01-01`", "2025-11-25"]),
        wrong(
            "refusing",
            answering("initialize", [error()]),
            ErrorCode::ProtocolError,
            Phase::Handshake,
        )
        .says(&["the licence has expired", "-32001"]),
        wrong(
            "listless",
            answering("tools/list", nothing()),
            unexpected,
            Phase::Listing,
        )
        .says(&["`tools/list`", "`tools`"]),
        wrong(
            "unlisted",
            answering("tools/list", [error()]),
            ErrorCode::ProtocolError,
            Phase::Listing,
        )
        .says(&["the licence has expired", "-32001"]),
    ])
    .await;
}

/// R1, R2
#[tokio::test]
async fn a_server_that_hangs_fails_at_its_own_deadline() {
    let hanging = |name, method, phase| {
        let row = Doomed::playing(
            name,
            &answering(method, []),
            ErrorCode::RequestTimeout,
            phase,
        );
        let server = row
            .server
            .clone()
            .startup_timeout(Duration::from_millis(1_500));
        Doomed { server, ..row }.says(&["timed out after 1.5 s", "`startup_timeout_sec`"])
    };
    check(vec![
        hanging("mute", "initialize", Phase::Handshake),
        hanging("endless", "tools/list", Phase::Listing),
    ])
    .await;
}
