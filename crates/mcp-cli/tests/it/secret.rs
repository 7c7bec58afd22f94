//! What the program was given in confidence, and tells nobody (T6): not with the most talkative of logs.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;

use mcp_testkit::{
    Action, Exchange, Handshake, HttpResponse, Rule, Script, ScriptedHttp, ServerProcess,
};
use serde_json::{Value, json};

use crate::program::{Config, Ran, command, scripted};

const TOKEN: &str = "hush-bearer-token";
const PASSED: &str = "hush-variable-passed-through";
const VALUE: &str = "hush-value-of-a-variable";
const FLAG: &str = "hush-argument-of-a-command";
const HEADER: &str = "hush-value-of-a-header";
const PASSWORD: &str = "hush-password-of-a-url";
const SEGMENT: &str = "hush-long-segment-of-a-url";
const QUERY: &str = "hush-query-of-a-url";
const ARGUMENT: &str = "hush-argument-of-a-call";
const META: &str = "hush-metadata-of-a-call";
const ANSWER: &str = "hush-answer-of-a-person";

const SECRETS: &[&str] = &[
    TOKEN, PASSED, VALUE, FLAG, HEADER, PASSWORD, SEGMENT, QUERY, ARGUMENT, META, ANSWER,
];

/// The program, with secrets in its environment and everything logged.
fn program(args: &[String]) -> Command {
    let mut command = command(args);
    let secrets = [("HUSH_TOKEN", TOKEN), ("HUSH_PASSED", PASSED)];
    command.env("RUST_LOG", "trace").envs(secrets);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Runs it to its end.
fn run(args: &[String]) -> Ran {
    let output = program(args)
        .stdin(Stdio::null())
        .output()
        .expect("the program runs");
    Ran {
        status: output.status.code(),
        stdout: String::from_utf8(output.stdout).expect("UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("UTF-8"),
    }
}

/// Holds a session: says a line, and waits for the answer with this id, where there is one to wait for.
fn talk(lines: &[(Value, &str)]) -> Ran {
    let mut program = program(&["session".to_owned()])
        .spawn()
        .expect("the program starts");
    let mut input = program.stdin.take().expect("piped");
    let mut output = BufReader::new(program.stdout.take().expect("piped"));
    let mut log = program.stderr.take().expect("piped");
    let log = std::thread::spawn(move || {
        let mut text = String::new();
        log.read_to_string(&mut text).map(|_| text)
    });
    let mut stdout = String::new();
    for (line, id) in lines {
        writeln!(input, "{line}").expect("the program reads");
        let awaited = match (*id, line["tool"].as_str()) {
            ("", Some(_)) => "\"event\":\"elicitation\"".to_owned(),
            ("", None) => "\"id\":null".to_owned(),
            (id, _) => format!("{{\"id\":\"{id}\",\"ok\""),
        };
        let mut begin = stdout.len();
        while !stdout[begin..].contains(&awaited) {
            begin = stdout.len();
            let read = output.read_line(&mut stdout).expect("UTF-8");
            assert_ne!(read, 0, "it ends before `{awaited}`: {stdout}");
        }
    }
    drop(input);
    output.read_to_string(&mut stdout).expect("UTF-8");
    let status = program.wait().expect("the program ends").code();
    let stderr = log.join().expect("it reads").expect("UTF-8");
    Ran {
        status,
        stdout,
        stderr,
    }
}

#[track_caller]
fn check(ran: &Ran, why: &str) {
    for secret in SECRETS {
        for (stream, text) in [("stdout", &ran.stdout), ("stderr", &ran.stderr)] {
            let leak = text.lines().find(|line| line.contains(secret));
            assert_eq!(leak, None, "{why}: `{secret}` is on {stream}");
        }
    }
}

/// A server in a process, started with secrets.
fn process(script: &Script) -> (ServerProcess, Value) {
    let (process, mut entry) = scripted(script);
    entry["args"]
        .as_array_mut()
        .expect("arguments")
        .push(json!(FLAG));
    entry["env"] = json!({"VALUE": VALUE});
    entry["env_vars"] = json!(["HUSH_PASSED"]);
    entry["startup_timeout_sec"] = json!(5);
    (process, entry)
}

/// A server behind an endpoint, asked with secrets.
fn endpoint(address: &str, path: &str) -> Value {
    json!({
        "url": format!("http://ada:{PASSWORD}@{address}/{path}/{SEGMENT}?key={QUERY}"),
        "headers": {"X-Api-Key": HEADER},
        "bearer_token_env_var": "HUSH_TOKEN",
        "startup_timeout_sec": 5,
    })
}

/// Says no, and repeats whom to.
async fn refuse(exchange: Exchange) {
    let header = |name| exchange.header(name).unwrap_or_default().to_owned();
    let (user, key) = (header("authorization"), header("x-api-key"));
    let said = format!("{} is not for {user} with {key}", exchange.path());
    let response =
        HttpResponse::new(401).header("WWW-Authenticate", &format!("Bearer realm=\"{user}\""));
    exchange.respond(response.body("text/plain", said)).await;
}

/// Answers for ever, and refuses below `no`.
fn serve() -> String {
    let (bound, address) = channel();
    std::thread::spawn(move || {
        let executor = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        executor.expect("an executor").block_on(async {
            let (_, mut server) = ScriptedHttp::bind().await;
            server.set_deadline(std::time::Duration::from_secs(600));
            bound
                .send(server.address().to_string())
                .expect("the test waits");
            loop {
                let exchange = server.expect_any().await.forgiving();
                let params = exchange.params();
                let result = match exchange.message()["method"].as_str() {
                    _ if exchange.path().starts_with("/no/") => {
                        refuse(exchange).await;
                        continue;
                    }
                    Some("initialize") => Handshake::new().result(params),
                    Some("tools/list") => json!({"tools": [{"name": "echo"}]}),
                    Some("tools/call") if params["arguments"]["refuse"] == true => {
                        refuse(exchange).await;
                        continue;
                    }
                    Some("tools/call") => json!({"content": []}),
                    _ => {
                        exchange.respond(HttpResponse::new(405)).await;
                        continue;
                    }
                };
                exchange.result(result).await;
            }
        });
    });
    address.recv().expect("it is bound")
}

/// A server with one tool for each thing that can become of a call.
fn script() -> Script {
    let ask = Action::Ask {
        method: "elicitation/create".into(),
        params: json!({"message": "token?", "requestedSchema": {"type": "object"}}),
    };
    let cut = Action::stdout("{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\n");
    let rows = [
        ("asks", vec![ask, Action::Standard]),
        (
            "fails",
            vec![Action::Result(json!({"isError": true, "content": []}))],
        ),
        ("cut", vec![cut]),
        ("mute", Vec::new()),
        ("dies", vec![Action::Exit(9)]),
    ];
    rows.into_iter()
        .fold(Script::new().tool_named("good"), |script, (tool, run)| {
            script.tool_named(tool).rule(Rule::on_tool(tool, run))
        })
}

fn servers(address: &str) -> (Vec<ServerProcess>, Value) {
    let (good, local) = process(&script());
    let (bad, broken) = process(&Script::new().rule(Rule::at_start([Action::Exit(3)])));
    let missing =
        json!({"command": "no-such-program-anywhere", "args": [FLAG], "env": {"VALUE": VALUE}});
    let nobody = endpoint("127.0.0.1:1", "mcp");
    let servers = json!({
        "local": local, "broken": broken, "missing": missing,
        "remote": endpoint(address, "mcp"), "refused": endpoint(address, "no"), "nobody": nobody,
    });
    (vec![good, bad], servers)
}

#[test]
fn commands_keep_secrets() {
    let address = serve();
    let (_processes, servers) = servers(&address);
    let config = Config::of_servers(&servers);
    let ran = run(&config.command_line("tools", &[]));
    assert!(ran.stderr.contains("TRACE"), "it logs: {}", ran.stderr);
    check(&ran, "tools");
    check(
        &run(&config.command_line("tools", &["--json"])),
        "tools --json",
    );
    let arguments = json!({"password": ARGUMENT}).to_string();
    let refused = json!({"password": ARGUMENT, "refuse": true}).to_string();
    let wrong = format!("{{\"password\":\"{ARGUMENT}\",}}");
    let array = format!("[\"{ARGUMENT}\"]");
    let rows = [
        ("local/good", &arguments, Some(0)),
        ("local/fails", &arguments, Some(1)),
        ("local/cut", &arguments, Some(3)),
        ("local/mute", &arguments, Some(4)),
        ("local/dies", &arguments, Some(3)),
        ("local/good", &wrong, Some(2)),
        ("local/good", &array, Some(2)),
        ("remote/echo", &arguments, Some(0)),
        ("remote/echo", &refused, Some(3)),
        ("refused/echo", &arguments, Some(3)),
        ("nobody/echo", &arguments, Some(3)),
        ("missing/echo", &arguments, Some(3)),
        ("broken/echo", &arguments, Some(3)),
    ];
    for (tool, arguments, status) in rows {
        let args = [tool, "--arguments", arguments, "--timeout", "0.5"];
        let ran = run(&config.command_line("call", &args));
        check(&ran, tool);
        assert_eq!(ran.status, status, "{tool}: {ran:?}");
    }
}

#[test]
fn a_session_keeps_secrets() {
    let address = serve();
    let (processes, servers) = servers(&address);
    let (arguments, meta) = (json!({"password": ARGUMENT}), json!({"vendor/key": META}));
    let call = |id: &str, server: &str, tool: &str| json!({"id": id, "op": "call", "server": server, "tool": tool, "arguments": arguments, "meta": meta, "timeout_ms": 500});
    let lines = [
        (
            json!({"id": "s", "op": "start", "servers": servers, "elicitation": true}),
            "s",
        ),
        (call("1", "local", "good"), "1"),
        (call("2", "local", "cut"), "2"),
        (call("3", "local", "mute"), "3"),
        (call("4", "remote", "echo"), "4"),
        (call("5", "local", "asks"), ""),
        (
            json!({"id": "6", "op": "elicit_reply", "elicitation": 1, "action": "accept", "content": {"token": ANSWER}}),
            "5",
        ),
        (json!({"id": "7", "op": "cal", "arguments": arguments}), "7"),
        (
            json!({"id": "8", "op": "call", "server": "local", "tool": "good", "arguments": ARGUMENT}),
            "8",
        ),
        (
            json!({"id": "9", "op": "call", "server": "local", "tool": "good", "meta": META}),
            "9",
        ),
        (
            json!({"id": "10", "op": "start", "servers": {"x": {"command": "x", "env": VALUE}}}),
            "10",
        ),
        (json!(ARGUMENT), ""),
        (call("11", "local", "dies"), "11"),
    ];
    let ran = talk(&lines);
    check(&ran, "session");
    assert_eq!(
        ran.stdout.matches("\"outcome\":\"ok\"").count(),
        3,
        "{ran:?}"
    );
    assert_eq!(processes[0].log().count_calls("good"), 1, "{ran:?}");
}

/// A configuration is where secrets are, also when it is wrong.
#[test]
fn mistakes_in_a_configuration_are_told_without_it() {
    let entries = [
        json!({"command": "x", "env": VALUE}),
        json!({"command": "x", "env": {"VALUE": [VALUE]}}),
        json!({"command": "x", "env": [VALUE]}),
        json!({"command": "x", "args": FLAG}),
        json!({"command": "x", "args": [{"flag": FLAG}]}),
        json!({"command": "x", "headers": {"X-Api-Key": HEADER}}),
        json!({"url": format!("http://ada:{PASSWORD}@:/{SEGMENT}?{QUERY}")}),
        json!({"url": format!("ftp://ada:{PASSWORD}@example.com/{SEGMENT}?{QUERY}")}),
        json!({"url": "http://127.0.0.1:1/", "headers": HEADER}),
        json!({"url": "http://127.0.0.1:1/", "headers": {"X-Api-Key": format!("{HEADER}\n")}}),
        json!({"url": "http://127.0.0.1:1/", "headers": {"X Api": HEADER}}),
        json!({"url": "http://127.0.0.1:1/", "headers": {"X-Api-Key": [HEADER]}}),
        json!([VALUE]),
        json!(VALUE),
    ];
    for entry in entries {
        let config = Config::of_servers(&json!({"x": entry}));
        let ran = run(&config.command_line("tools", &[]));
        check(&ran, &entry.to_string());
        assert_ne!(ran.status, Some(0), "{entry}: {ran:?}");
    }
    for text in [
        format!("{{\"mcpServers\": {{\"x\": {{\"env\": {{\"A\": \"{VALUE}\", }}}}}}}}"),
        format!("{{\"mcpServers\": [\"{VALUE}\"]}}"),
        format!("\"{VALUE}\""),
        format!("{{\"mcpServers\": {{}}, \"mcpServers\": \"{VALUE}\"}}"),
    ] {
        let config = Config::of_text(&text);
        let ran = run(&config.command_line("tools", &[]));
        check(&ran, &text);
        assert_ne!(ran.status, Some(0), "{text}: {ran:?}");
    }
}
