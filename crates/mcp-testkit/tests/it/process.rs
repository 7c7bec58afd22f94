//! The server as a child process.

use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use mcp_testkit::{Action, Handshake, Rule, Script, ServerProcess};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

/// A script that is playing, and a client without any opinion.
struct Running {
    process: ServerProcess,
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
}

impl Running {
    fn start(script: &Script) -> Self {
        Self::start_again(script.command_of(env!("CARGO_BIN_EXE_scripted-server")))
    }

    /// One more process of the same script and log.
    fn start_again(process: ServerProcess) -> Self {
        let mut command = Command::new(process.program());
        command.args(process.args()).kill_on_drop(true);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().expect("piped"));
        Self {
            process,
            child,
            stdin,
            stdout,
        }
    }

    async fn send(&mut self, message: Value) {
        let line = format!("{message}\n");
        self.stdin
            .as_mut()
            .expect("open")
            .write_all(line.as_bytes())
            .await
            .expect("the server reads");
    }

    async fn line(&mut self) -> String {
        let mut line = String::new();
        self.stdout.read_line(&mut line).await.expect("text");
        line
    }

    async fn answer(&mut self, message: Value) -> Value {
        self.send(message).await;
        serde_json::from_str(&self.line().await).expect("an answer")
    }

    async fn end(mut self) -> (ExitStatus, ServerProcess, String) {
        self.stdin = None;
        let mut stderr = String::new();
        self.child
            .stderr
            .take()
            .expect("piped")
            .read_to_string(&mut stderr)
            .await
            .expect("text");
        (
            self.child.wait().await.expect("it was started"),
            self.process,
            stderr,
        )
    }
}

fn request(id: u64, method: &str, params: Value) -> Value {
    let mut message = json!({"jsonrpc": "2.0", "id": id, "method": method});
    message["params"] = params;
    message
}

fn call(id: u64, tool: &str) -> Value {
    request(
        id,
        "tools/call",
        json!({"name": tool, "_meta": {"progressToken": 17}}),
    )
}

#[tokio::test]
async fn an_empty_script_is_a_correct_server_and_logs_what_it_gets() {
    let script = Script::new()
        .handshake(Handshake::new().protocol_version("2025-06-18"))
        .tool_named("search");
    let mut server = Running::start(&script);
    let hello = server
        .answer(request(
            1,
            "initialize",
            json!({"protocolVersion": "2025-11-25"}),
        ))
        .await;
    assert_eq!(hello["result"]["protocolVersion"], "2025-06-18");
    server
        .send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
        .await;
    assert_eq!(
        server.answer(request(2, "tools/list", json!({}))).await["result"]["tools"][0]["name"],
        "search"
    );
    assert_eq!(
        server.answer(call(3, "search")).await["result"]["content"][0]["text"],
        "search"
    );
    assert_eq!(
        server.answer(call(4, "other")).await["error"]["code"],
        -32602
    );
    server
        .stdin
        .as_mut()
        .expect("open")
        .write_all(b"noise\n")
        .await
        .expect("the server reads");
    let pid = server.child.id().expect("running");
    let (status, process, _) = server.end().await;
    let log = process.log();
    assert_eq!(status.code(), Some(0));
    assert_eq!(
        (
            log.count("initialize"),
            log.count("tools/call"),
            log.count_calls("search")
        ),
        (1, 2, 1)
    );
    assert_eq!(
        log.messages()[1],
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"})
    );
    assert_eq!((log.pids(), log.alive()), (vec![pid], vec![]));
    assert_eq!(
        log.events("start")[0]["cwd"],
        std::env::current_dir()
            .expect("one")
            .to_str()
            .expect("text")
    );
    let noise = json!({"dir": "in", "pid": pid, "text": "noise"});
    assert!(log.entries().contains(&noise), "{:#?}", log.entries());
}

#[tokio::test]
async fn each_answering_action_writes_what_it_says() {
    let error = Action::Error {
        code: -1,
        message: "m".into(),
        data: json!([1]),
    };
    let filled = Action::Send(json!({"t": ["$progressToken"], "i": {"of": "$id"}}));
    let again = Action::stdout("again\n");
    let rows = [
        (
            Action::Result(json!([1])),
            r#"{"jsonrpc":"2.0","id":5,"result":[1]}"#,
        ),
        (
            Action::ResultRaw("1e2".into()),
            r#"{"jsonrpc":"2.0","id":5,"result":1e2}"#,
        ),
        (
            error,
            r#"{"jsonrpc":"2.0","id":5,"error":{"code":-1,"data":[1],"message":"m"}}"#,
        ),
        (
            Action::ErrorRaw("no".into()),
            r#"{"jsonrpc":"2.0","id":5,"error":no}"#,
        ),
        (filled, r#"{"i":{"of":5},"t":[17]}"#),
        (Action::stdout("\u{feff}<$id>\r\n"), "\u{feff}<5>\r"),
        (Action::Repeat(2, vec![again]), "again\nagain"),
    ];
    for (action, expected) in rows {
        let script = Script::new().rule(Rule::on_tool("t", [action.clone(), Action::Exit(0)]));
        let mut server = Running::start(&script);
        server.send(call(5, "t")).await;
        let mut written = String::new();
        server
            .stdout
            .read_to_string(&mut written)
            .await
            .expect("text");
        assert_eq!(written.strip_suffix('\n'), Some(expected), "{action:?}");
    }
}

#[tokio::test]
async fn a_large_result_arrives_whole() {
    let large = [Action::ResultOfSize(3 << 20)];
    let mut server = Running::start(&Script::new().rule(Rule::on("x", large)));
    let answer = server.answer(request(1, "x", Value::Null)).await;
    let text = answer["result"]["content"][0]["text"].as_str();
    assert_eq!(text.map(str::len), Some(3 << 20));
}

#[tokio::test]
async fn echo_shows_the_parameters() {
    let mut server = Running::start(&Script::new().rule(Rule::on("x", [Action::Echo])));
    let answer = server.answer(request(1, "x", json!({"a": [1]}))).await;
    assert_eq!(answer["result"]["content"][0]["text"], "{\"a\":[1]}");
}

#[tokio::test]
async fn a_delay_holds_up_no_other_message() {
    let slow = [Action::delay(Duration::from_secs(600)), Action::Standard];
    let mut server = Running::start(&Script::new().rule(Rule::on_tool("slow", slow)));
    server.send(call(1, "slow")).await;
    assert_eq!(
        server.answer(request(2, "ping", Value::Null)).await["id"],
        2
    );
}

#[tokio::test]
async fn rules_run_in_their_number_and_process() {
    let script = Script::new()
        .rule(Rule::on("x", [Action::Result(json!("second process"))]).in_process(2))
        .rule(Rule::on("x", [Action::Result(json!("first time"))]).times(1))
        .rule(Rule::on("x", [Action::Result(json!("later"))]));
    let mut server = Running::start(&script);
    let mut answers = Vec::new();
    for _ in 0..2 {
        answers.push(server.answer(request(1, "x", Value::Null)).await["result"].clone());
    }
    let (_, process, _) = server.end().await;
    let mut server = Running::start_again(process);
    answers.push(server.answer(request(1, "x", Value::Null)).await["result"].clone());
    assert_eq!(answers, ["first time", "later", "second process"]);
    assert_eq!(server.process.log().count("x"), 3);
}

#[tokio::test]
async fn asks_the_client_and_logs_its_response() {
    let ask = Action::Ask {
        method: "roots/list".into(),
        params: Value::Null,
    };
    let mut server =
        Running::start(&Script::new().rule(Rule::on_tool("t", [ask, Action::Result(json!({}))])));
    let asked = server.answer(call(1, "t")).await;
    assert_eq!(asked["method"], "roots/list");
    let answer = server
        .answer(json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"roots": []}}))
        .await;
    assert_eq!(answer["id"], 1);
    server.process.log().expect("tools/call", 1).await;
    assert_eq!(
        server.process.log().messages()[1]["result"],
        json!({"roots": []})
    );
}

#[tokio::test]
async fn the_log_has_messages_as_they_were_written() {
    let mut server = Running::start(&Script::new());
    let ping = r#"{"n":1e2,"method":"ping","id":1,"big":123456789012345678901234567890}"#;
    let stdin = server.stdin.as_mut().expect("open");
    let written = stdin.write_all(format!("{ping}\n").as_bytes()).await;
    written.expect("the server reads");
    server.line().await;
    assert_eq!(server.process.log().lines(), [ping]);
}

#[tokio::test]
async fn a_banner_comes_before_everything_and_an_exit_has_its_status() {
    let die = Rule::at_start([
        Action::stdout("ready on stdio\n"),
        Action::Stderr("KEY is required".into()),
        Action::Exit(3),
    ]);
    let mut server = Running::start(&Script::new().rule(die));
    assert_eq!(server.line().await, "ready on stdio\n");
    let (status, _, stderr) = server.end().await;
    assert_eq!(
        (status.code(), stderr.as_str()),
        (Some(3), "KEY is required\n")
    );
}

#[tokio::test]
async fn a_process_without_a_script_says_so() {
    let program = env!("CARGO_BIN_EXE_scripted-server");
    let output = Command::new(program)
        .args(["/nowhere/script.json", "log"])
        .output()
        .await
        .expect("it starts");
    assert_eq!(output.status.code(), Some(70));
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot play /nowhere/script.json"));
}
