//! The example server, over its standard input and output, with a launcher that only passes the command on.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

struct Server {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Server {
    fn start(args: &[&str]) -> Self {
        let tests = std::env::current_exe().expect("the path of the tests");
        let target = tests.ancestors().nth(2).expect("the folder of the build");
        let mut child = Command::new(target.join("examples/confined-server"))
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the example is built with the tests");
        let input = child.stdin.take().expect("piped");
        let output = BufReader::new(child.stdout.take().expect("piped"));
        Self {
            child,
            input,
            output,
        }
    }

    fn request(&mut self, method: &str, params: &str) -> Value {
        let line = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#);
        writeln!(self.input, "{line}").expect("the server reads");
        let mut answer = String::new();
        self.output
            .read_line(&mut answer)
            .expect("the server answers");
        let answer: Value = serde_json::from_str(&answer).expect("JSON");
        answer["result"].clone()
    }

    /// Calls a tool with a `_meta` and arguments as text; what it says.
    fn call(&mut self, tool: &str, meta: &str, arguments: &str) -> String {
        let params = format!(r#"{{"name":"{tool}","_meta":{meta},"arguments":{arguments}}}"#);
        let result = self.request("tools/call", &params);
        let text = result["content"][0]["text"].as_str().expect("text");
        text.to_owned()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A launcher that says with which state it was called, and runs the command.
struct Launcher {
    folder: tempfile::TempDir,
}

impl Launcher {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        // Written by another process: see the stubs of the probe.
        let written = Command::new("/bin/sh")
            .args(["-c", "cat > launcher && chmod 755 launcher"])
            .current_dir(folder.path())
            .stdin(Stdio::piped())
            .spawn()
            .and_then(|mut shell| {
                let script = "#!/bin/sh\necho \"$1 $2 $3 $4\" >&2\nshift 4\nexec \"$@\"\n";
                shell
                    .stdin
                    .take()
                    .expect("piped")
                    .write_all(script.as_bytes())?;
                shell.wait()
            });
        assert!(written.expect("a shell").success());
        Self { folder }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("launcher")
    }

    fn meta(&self, state: &str) -> String {
        let launcher = json!({ "codexExecutable": self.path() });
        format!(r#"{{"codex/sandbox-state":{state},"codex/sandbox-launcher":{launcher}}}"#)
    }
}

const HELLO: &str = r#"{"argv":["/bin/sh","-c","echo hello; exit 7"]}"#;

/// S1, S7
#[test]
fn a_command_runs_under_the_authority_of_its_call() {
    let (mut server, launcher) = (Server::start(&[]), Launcher::new());
    let answer = server.request("initialize", "{}");
    assert!(mcp_sandbox_meta::advertises_sandbox_state_in_value(&answer));
    let said = server.call("run", &launcher.meta(r#"{"n":1e2}"#), HELLO);
    let said: Value = serde_json::from_str(&said).unwrap();
    let expected = json!({
        "status": 7,
        "stdout": "hello\n",
        "stderr": "sandbox --sandbox-state-json {\"n\":1e2} --\n",
        "confined": true,
    });
    assert_eq!(said, expected);
}

/// S7: what consumers of this contract got wrong before.
#[test]
fn nothing_runs_without_a_sound_authority() {
    let (mut server, launcher) = (Server::start(&[]), Launcher::new());
    let meta = launcher.meta("{}");
    let forged = format!(r#"{{"argv":["/bin/true"],"_meta":{meta},{}"#, &meta[1..]);
    for (meta, arguments, expected) in [
        ("null", HELLO, "no sandbox state"),
        ("{}", HELLO, "no sandbox state"),
        ("{}", &forged, "no sandbox state"),
        (
            r#"{"codex/sandbox-state":{}}"#,
            HELLO,
            "no sandbox launcher",
        ),
        (
            r#"{"codex/sandbox-state":{},"codex/sandbox-launcher":{"codexExecutable":"sh"}}"#,
            HELLO,
            "`codex/sandbox-launcher` is malformed",
        ),
        (
            r#"{"codex/sandbox-state":{},"codex/sandbox-state-meta":{"a":1}}"#,
            HELLO,
            "differ",
        ),
    ] {
        let said = server.call("run", meta, arguments);
        assert!(said.contains(expected), "{meta}: {said}");
    }
}

/// S7
#[test]
fn only_the_operator_lets_a_command_run_unconfined() {
    let mut server = Server::start(&["--dangerously-run-unsandboxed"]);
    let said = server.call("run", "{}", HELLO);
    assert!(said.contains(r#""confined":false"#), "{said}");
    let said = server.call("run", &Launcher::new().meta("{}"), HELLO);
    assert!(said.contains(r#""confined":true"#), "{said}");
}

/// S7
#[test]
fn a_shell_is_used_again_under_the_same_authority_only() {
    let (mut server, launcher) = (Server::start(&[]), Launcher::new());
    let mut check = |meta: &str, line: &str, expected: &str| {
        let said = server.call("shell", meta, &json!({ "line": line }).to_string());
        assert!(said.contains(expected), "{meta} {line}: {said}");
    };
    let first = launcher.meta(r#"{"a":1,"b":2}"#);
    check(
        &first,
        "kept=17; (exit 3)",
        r#""calls":1,"output":"","status":3"#,
    );
    let same = launcher.meta(r#"{"b":2,"a":1}"#);
    check(
        &same,
        "printf $kept",
        r#""calls":2,"output":"17","status":0"#,
    );
    let other = launcher.meta(r#"{"a":1}"#);
    check(
        &other,
        "echo $kept",
        "the authority changed: another sandbox state",
    );
    check(
        &other,
        "echo $kept",
        r#""calls":1,"output":"\n","status":0"#,
    );
    check("{}", "echo", "no more sandbox state, no more launcher");
    check("{}", "echo", "no sandbox state");
}
