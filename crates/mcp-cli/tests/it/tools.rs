//! `mcp-runtime tools`

use std::io::{BufRead as _, BufReader, Lines, Write as _};
use std::process::{Child, ChildStdout, Stdio};

use mcp_testkit::{Action, Rule, Script};
use serde_json::{Value, json};

use crate::program::{Config, command, docs, missing, scripted};

/// R1
#[test]
fn a_server_that_does_not_start_costs_the_others_nothing() {
    let config = Config::of_servers(&json!({"docs": docs(), "gone": missing()}));
    let ran = config.run("tools", &[]).with(0);
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert!(
        lines[0].starts_with("docs  3 tools, ready after "),
        "{ran:?}"
    );
    assert_eq!(
        lines[1..],
        [
            "  mcp__docs__read     read     Reads one page of the documentation.",
            "  mcp__docs__reindex  reindex  Rebuilds the index of the documentation; takes a minute.",
            "  mcp__docs__search   search   Finds pages of the documentation by a word.",
        ]
    );
    ran.saying("warning: server `gone` (`no-such-program-anywhere`) did not start")
        .saying("install it, or give its full path as `command`");
}

/// R1: one optional failure fails no script; all, or a required one, do.
#[test]
fn the_exit_status_says_whether_a_host_could_work() {
    let (ready, fails) = (docs(), missing());
    let required = json!({"command": "no-such-program-anywhere", "required": true});
    let disabled = json!({"command": "no-such-program-anywhere", "enabled": false});
    let disabled_required =
        json!({"command": "no-such-program-anywhere", "enabled": false, "required": true});
    let wrong = json!({"command": 7});
    let wrong_required = json!({"command": 7, "required": true});
    let rows = [
        (json!({"a": ready}), 0, "all ready"),
        (json!({"a": ready, "b": fails}), 0, "one failed"),
        (json!({"a": fails, "b": fails}), 3, "all failed"),
        (
            json!({"a": fails, "b": disabled}),
            3,
            "all that were started failed",
        ),
        (
            json!({"a": ready, "b": required}),
            3,
            "a required one failed",
        ),
        (json!({"a": disabled}), 0, "nothing was to be started"),
        (
            json!({"a": ready, "b": disabled_required}),
            0,
            "it was not to be started",
        ),
        (json!({"a": ready, "b": wrong}), 0, "one cannot be read"),
        (
            json!({"a": ready, "b": wrong_required}),
            2,
            "a required one cannot be read",
        ),
        (json!({"a": wrong}), 2, "none can be read"),
    ];
    for (servers, status, why) in rows {
        let ran = Config::of_servers(&servers).run("tools", &[]);
        assert_eq!(ran.status, Some(status), "{why}: {ran:?}");
    }
}

/// What a server says before it dies is what a person needs.
#[test]
fn a_failed_server_is_told_with_its_last_words_and_what_to_try() {
    let script = Script::new().rule(Rule::at_start([
        Action::Stderr("reading the key".into()),
        Action::Stderr("no key \u{1b}[31mat all".into()),
        Action::Exit(3),
    ]));
    let (_process, entry) = scripted(&script);
    let ran = Config::of_servers(&json!({"dies": entry}))
        .run("tools", &[])
        .with(3);
    assert_eq!(ran.stdout, "");
    ran.saying("did not start: the handshake failed")
        .saying("exited with status 3")
        .saying("\n    reading the key\n    no key \\u{1b}[31mat all\n")
        .saying("run the command by itself");
}

/// W1
#[test]
fn a_definition_is_the_servers_own_object() {
    let definition = r#"{"x-new":{"n":1e2,"big":123456789012345678901},"name":"odd","inputSchema":{"type":"object"},"description":"b\u00fc"}"#;
    let listing = format!(r#"{{"tools":[{definition}]}}"#);
    let script = Script::new().rule(Rule::on("tools/list", [Action::ResultRaw(listing)]));
    let (_process, entry) = scripted(&script);
    let ran = Config::of_servers(&json!({"s": entry}))
        .run("tools", &["--json"])
        .quietly(0);
    assert!(
        ran.stdout
            .contains(&format!(r#""definition":{definition}"#)),
        "{}",
        ran.stdout
    );
    let tool = &ran.json()["tools"][0];
    assert_eq!(
        [
            &tool["server"],
            &tool["tool"],
            &tool["namespace"],
            &tool["name"]
        ],
        ["s", "odd", "mcp__s", "mcp__s__odd"]
    );
}

/// The two ways to ask a program give the same answer.
#[test]
fn json_has_the_form_of_a_sessions_answers() {
    let off = json!({"command": "x", "enabled": false});
    let odd = json!({"command": 7});
    let servers = json!({"docs": docs(), "gone": missing(), "odd": odd, "off": off});
    let config = Config::of_servers(&servers);
    let listed = config.run("tools", &["--json"]).with(0).json();

    let mut session = Session::begin();
    let started = session.ask(&json!({"id": 1, "op": "start", "servers": servers}));
    let tools = session.ask(&json!({"id": 2, "op": "tools"}));
    assert_eq!(
        comparable(&listed["servers"]),
        comparable(&started["servers"])
    );
    assert_eq!(listed["tools"], tools["tools"]);
    assert!(
        tools["tools"]
            .as_array()
            .is_some_and(|tools| tools.len() == 3)
    );
    session.end();
}

/// A session, asked one thing after the other.
struct Session {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Session {
    fn begin() -> Self {
        let mut command = command(["session"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let lines = BufReader::new(child.stdout.take().expect("piped")).lines();
        Self { child, lines }
    }

    /// The answer to a request.
    fn ask(&mut self, request: &Value) -> Value {
        let stdin = self.child.stdin.as_mut().expect("piped");
        writeln!(stdin, "{request}").expect("the session reads");
        let lines = self.lines.by_ref().map(|line| line.expect("text"));
        let mut messages = lines.map(|line| serde_json::from_str::<Value>(&line).expect("JSON"));
        messages
            .find(|message| message["id"] == request["id"])
            .expect("an answer")
    }

    fn end(mut self) {
        drop(self.child.stdin.take());
        assert_eq!(self.child.wait().expect("it ends").code(), Some(0));
    }
}

/// Servers without what differs from run to run, and without the place in a file that a session's entries do not have.
fn comparable(servers: &Value) -> Vec<Value> {
    let mut servers = servers.as_array().cloned().unwrap_or_default();
    for server in &mut servers {
        server["elapsed_ms"] = json!(0);
        if server["server"] == "odd" {
            server["error"]["message"] = json!("");
        }
    }
    servers
}

/// A listing that was cut short is not passed off as whole (R8).
#[test]
fn what_is_wrong_with_a_listing_is_told() {
    let script = Script::new()
        .tool_named("good")
        .tool(json!({"description": "no name"}));
    let (_process, entry) = scripted(&script);
    let ran = Config::of_servers(&json!({"s": entry}))
        .run("tools", &[])
        .with(0);
    assert!(ran.stdout.contains("mcp__s__good"), "{ran:?}");
    ran.saying("warning: server `s`: ");
}
