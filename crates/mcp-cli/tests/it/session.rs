//! `mcp-runtime session`, line by line.

mod access;
mod approval;
#[cfg(unix)]
mod authority;
mod binding;
mod bytes;
mod document;
#[cfg(unix)]
mod executor;
mod hook;
mod permissions;
mod plugin;
mod prompt;
mod question;
mod reconnect;
mod resource;
mod selection;

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use mcp_testkit::{Action, Rule, Script};
use serde_json::{Value, json};

use crate::program::{command, docs, missing, scripted};

/// How long anything may take here. Nothing comes near it.
const PATIENCE: Duration = Duration::from_secs(20);

/// A session under way.
pub(crate) struct Session {
    program: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    /// Lines that were read while waiting for others.
    seen: Vec<Value>,
}

impl Session {
    pub(crate) fn open() -> Self {
        Self::of(command(["session"]))
    }

    /// A session of a program that is started like this.
    pub(crate) fn of(mut command: Command) -> Self {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit());
        let mut program = command.spawn().expect("the program starts");
        let output = BufReader::new(program.stdout.take().expect("piped"));
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            output
                .lines()
                .map_while(Result::ok)
                .try_for_each(|line| sender.send(line))
        });
        Self {
            input: program.stdin.take(),
            program,
            lines,
            seen: Vec::new(),
        }
    }

    pub(crate) fn send(&mut self, line: &str) {
        self.send_bytes(line.as_bytes());
    }

    fn send_bytes(&mut self, line: &[u8]) {
        let input = self.input.as_mut().expect("the input is open");
        input
            .write_all(&[line, b"\n"].concat())
            .expect("the program reads");
    }

    /// The first line that is asked for, now or later.
    #[track_caller]
    pub(crate) fn wait(&mut self, mut wanted: impl FnMut(&Value) -> bool) -> Value {
        if let Some(at) = self.seen.iter().position(&mut wanted) {
            return self.seen.remove(at);
        }
        loop {
            let line = self.lines.recv_timeout(PATIENCE);
            assert!(line.is_ok(), "no such line, but: {:#?}", self.seen);
            let line = line.expect("just looked");
            let line: Value = serde_json::from_str(&line).expect("every line is JSON");
            if wanted(&line) {
                return line;
            }
            self.seen.push(line);
        }
    }

    #[track_caller]
    pub(crate) fn answer(&mut self, id: &str) -> Value {
        self.wait(|line| line.get("event").is_none() && line["id"] == json!(id))
    }

    #[track_caller]
    pub(crate) fn ask(&mut self, request: &Value) -> Value {
        self.send(&request.to_string());
        let id = request["id"]
            .as_str()
            .expect("tests use texts as ids")
            .to_owned();
        self.answer(&id)
    }

    /// The answer to a request with the id `c`, as it is written.
    #[track_caller]
    fn ask_raw(&mut self, request: &str) -> String {
        self.send(request);
        loop {
            let line = self.lines.recv_timeout(PATIENCE).expect("an answer");
            if line.starts_with(r#"{"id":"c","#) {
                break line;
            }
        }
    }

    #[track_caller]
    fn started(servers: &Value) -> Self {
        let mut session = Self::open();
        let answer = session.ask(&json!({"id": "start", "op": "start", "servers": servers}));
        assert_eq!(answer["ok"], true, "{answer}");
        session
    }

    /// Closes the input and waits for the end.
    #[track_caller]
    pub(crate) fn end(mut self) -> Option<i32> {
        drop(self.input.take());
        // The channel closes with the output, which closes with the program.
        while self.lines.recv_timeout(PATIENCE).is_ok() {}
        self.program.wait().expect("the program ends").code()
    }
}

/// A server with one tool, `echo`, that answers a call like this; with nothing it does not answer.
fn script(answer: impl IntoIterator<Item = Action>) -> Script {
    Script::new()
        .tool_named("echo")
        .rule(Rule::on("tools/call", answer))
}

/// Waits for what a server's log is to show.
pub(crate) fn wait(log: impl Future<Output = ()>) {
    let executor = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build();
    executor.expect("an executor").block_on(log);
}

#[track_caller]
pub(crate) fn check_invalid(answer: &Value, message: &str) {
    assert_eq!(answer["error"]["code"], "invalid_request", "{answer}");
    assert_eq!(answer["error"]["outcome"], "invalid_request", "{answer}");
    let said = answer["error"]["message"].as_str().expect("a message");
    assert!(said.contains(message), "no `{message}` in: {said}");
}

#[test]
fn servers_start_are_listed_called_and_shut_down() {
    let mut session = Session::started(&json!({"docs": docs(), "gone": missing()}));
    session.wait(|line| line["event"] == "ready" && line["server"] == "docs");
    session.wait(|line| line["event"] == "failed" && line["server"] == "gone");

    let status = session.ask(&json!({"id": "1", "op": "status"}));
    assert_eq!(status["servers"][0]["status"], "ready");
    assert_eq!(status["servers"][0]["listing"], "fetched");
    assert_eq!(status["servers"][1]["error"]["code"], "startup_failed");

    let tools = session.ask(&json!({"id": "2", "op": "tools"}));
    let names: Vec<_> = tools["tools"]
        .as_array()
        .expect("tools")
        .iter()
        .map(|tool| &tool["name"])
        .collect();
    assert_eq!(
        names,
        ["mcp__docs__read", "mcp__docs__reindex", "mcp__docs__search"]
    );

    let arguments = json!({"query": "deadline"});
    let by_name =
        json!({"id": "3", "op": "call", "name": "mcp__docs__search", "arguments": arguments});
    assert_eq!(session.ask(&by_name)["outcome"], "ok");
    let by_key = json!({"id": "4", "op": "call", "server": "docs", "tool": "search", "arguments": arguments});
    assert_eq!(session.ask(&by_key)["outcome"], "ok");
    assert_eq!(
        session.ask(&json!({"id": "5", "op": "refresh", "server": "docs"}))["tools"],
        3
    );

    let ended = session.ask(&json!({"id": "6", "op": "shutdown"}));
    assert_eq!(ended["killed"], json!([]));
    assert_eq!(session.end(), Some(0));
}

/// B5
#[test]
fn a_result_passes_through_untouched() {
    let result = r#"{"zeta":1e2,"content":[{"type":"x-new","n":123456789012345678901234567890,"a":1,"a":2}],"_meta":{"k":0.10}}"#;
    let script = script([Action::ResultRaw(result.to_owned())]);
    let (_process, entry) = scripted(&script);
    let mut session = Session::started(&json!({"odd": entry}));
    let raw = session.ask_raw(r#"{"id":"c","op":"call","server":"odd","tool":"echo"}"#);
    assert!(raw.contains(&format!(r#""result":{result}"#)), "{raw}");
    assert_eq!(session.end(), Some(0));
}

/// B4
#[test]
fn a_cancelled_call_answers_and_its_server_is_told() {
    let script = script([]);
    let (process, entry) = scripted(&script);
    let mut session = Session::started(&json!({"slow": entry}));
    session.send(r#"{"id":"c","op":"call","server":"slow","tool":"echo"}"#);
    wait(process.log().expect("tools/call", 1));
    let cancelled = session.ask(&json!({"id": "x", "op": "cancel", "target": "c"}));
    assert_eq!(cancelled["cancelled"], true);
    let answer = session.answer("c");
    assert_eq!(answer["error"]["outcome"], "cancelled", "{answer}");
    wait(process.log().expect("notifications/cancelled", 1));
    let again = session.ask(&json!({"id": "x", "op": "cancel", "target": "c"}));
    assert_eq!(again["cancelled"], false);
    assert_eq!(session.end(), Some(0));
    wait(process.log().expect_all_gone());
}

#[test]
fn a_start_that_is_cancelled_drops_its_runtime_and_frees_its_name() {
    let script = Script::new().rule(Rule::on("initialize", []));
    let (process, entry) = scripted(&script);
    let mut session = Session::open();
    session.send(&json!({"id": "s", "op": "start", "servers": {"slow": entry}}).to_string());
    wait(process.log().expect("initialize", 1));
    assert_eq!(
        session.ask(&json!({"id": "x", "op": "cancel", "target": "s"}))["cancelled"],
        true
    );
    assert_eq!(session.answer("s")["error"]["code"], "cancelled");
    wait(process.log().expect_all_gone());
    let again = session.ask(&json!({"id": "s", "op": "start", "servers": {"docs": docs()}}));
    assert_eq!(again["servers"][0]["status"], "ready", "{again}");
    assert_eq!(session.end(), Some(0));
}

#[test]
fn what_is_no_request_is_told_so_and_ends_nothing() {
    let mut session = Session::open();
    session.send("hello");
    check_invalid(&session.wait(|line| line["ok"] == false), "a JSON object");
    session
        .send_bytes(b"{\"id\": \"u\", \"op\": \"call\", \"arguments\": {\"path\": \"/tmp/\xff\"}}");
    check_invalid(&session.answer("u"), "not UTF-8");
    check_invalid(
        &session.ask(&json!({"id": "1", "op": "tools"})),
        "send `start` first",
    );
    check_invalid(
        &session.ask(&json!({"id": "2", "op": "fly"})),
        "no operation `fly`",
    );
    check_invalid(
        &session.ask(&json!({"id": "3", "op": "telemetry"})),
        "not supported",
    );
    check_invalid(
        &session.ask(&json!({"id": "4", "op": "start", "handlers": ["doorman"]})),
        "unknown variant `doorman`",
    );
    check_invalid(
        &session.ask(&json!({"id": "5", "op": "start", "environments": [{"id": " a"}]})),
        "the id of an environment is not valid",
    );
    assert_eq!(session.ask(&json!({"id": "6", "op": "start"}))["ok"], true);
    check_invalid(
        &session.ask(&json!({"id": "7", "op": "start"})),
        "started already",
    );
    assert_eq!(session.end(), Some(0));
}

#[test]
fn an_id_is_taken_while_its_request_is_pending() {
    let script = script([]);
    let (process, entry) = scripted(&script);
    let mut session = Session::started(&json!({"slow": entry}));
    let call = r#"{"id":"c","op":"call","server":"slow","tool":"echo"}"#;
    session.send(call);
    wait(process.log().expect("tools/call", 1));
    session.send(call);
    check_invalid(&session.answer("c"), "still pending");
    assert_eq!(session.end(), Some(0));
    wait(process.log().expect_all_gone());
}

/// C0, C1
#[test]
fn runtimes_of_one_session_share_a_listing() {
    let script = Script::new().rule(Rule::on(
        "tools/list",
        [Action::DelayMs(500), Action::Standard],
    ));
    let (process, entry) = scripted(&script);
    let mut session = Session::open();
    for runtime in ["main", "second"] {
        session.send(
            &json!({"id": runtime, "op": "start", "runtime": runtime, "servers": {"slow": entry}})
                .to_string(),
        );
    }
    let mut listings: Vec<String> = Vec::new();
    for runtime in ["main", "second"] {
        let answer = session.answer(runtime);
        listings.push(
            answer["servers"][0]["listing"]
                .as_str()
                .expect("ready")
                .to_owned(),
        );
    }
    listings.sort_unstable();
    assert_eq!(listings, ["fetched", "shared"]);
    assert_eq!(process.log().count("tools/list"), 1);
    let event = session.wait(|line| line["event"] == "ready" && line["runtime"] == "second");
    assert_eq!(event["server"], "slow");
    assert_eq!(
        session.ask(&json!({"id": "e", "op": "shutdown", "runtime": "second"}))["ok"],
        true
    );
    assert_eq!(
        session.ask(&json!({"id": "t", "op": "tools"}))["ok"],
        true,
        "the other goes on"
    );
    assert_eq!(session.end(), Some(0));
    wait(process.log().expect_all_gone());
}

/// K7, K8
#[test]
fn environments_have_servers_of_their_own() {
    let mut session = Session::open();
    let environments = json!([{"id": "local", "servers": {"docs": docs()}}, {"id": "devbox", "servers": {"docs": docs()}}]);
    let start = json!({"id": "s", "op": "start", "environments": environments, "features": {"multi_environment_mcp": true}});
    assert_eq!(
        session.ask(&start)["servers"].as_array().map(Vec::len),
        Some(2)
    );
    let call = json!({"id": "c", "op": "call", "server": "docs", "tool": "search", "arguments": {"query": "x"}});
    let refused = session.ask(&call);
    check_invalid(&refused, "`environment_id` one of `local`, `devbox`");
    assert_eq!(
        refused["error"]["candidates"].as_array().map(Vec::len),
        Some(2),
        "{refused}"
    );
    let mut call = call;
    call["environment_id"] = json!("devbox");
    assert_eq!(session.ask(&call)["outcome"], "ok");
    assert_eq!(session.end(), Some(0));
}

/// What a call would do, it would do for nobody.
#[test]
fn a_session_that_nobody_reads_ends_though_its_input_is_open() {
    let (process, entry) = scripted(&Script::new());
    let mut command = command(["session"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut program = command.spawn().expect("the program starts");
    drop(program.stdout.take());
    let mut input = program.stdin.take().expect("piped");
    let start = json!({"id": "s", "op": "start", "servers": {"docs": entry}});
    writeln!(input, "{start}").expect("the program reads");
    let status = program.wait().expect("the program ends");
    assert_eq!(status.code(), Some(0));
    // It may be gone before it has written the first line of its log.
    assert_eq!(process.log().alive(), [0; 0]);
}
