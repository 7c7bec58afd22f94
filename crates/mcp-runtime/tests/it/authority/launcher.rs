//! A launcher is asked whether it is one when a call would name it, within the time of that call (S4, S5, B3).

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use mcp_runtime::{CallError, CallOptions, ErrorCode, McpRuntimeBuilder, RuntimeEvent, ToolOutput};
use mcp_sandbox_meta::LauncherProbe;
use mcp_testkit::{Action, Rule, Script, ServerProcess};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::peer::{Peer, Place};
use super::stub::{Stub, gone};
use super::{capabilities, environment, meta, opted_in, state, told};
use crate::host::{Host, SERVER, at_once, builder, stdio, text};

const QUESTION: &str = "sandbox --sandbox-state-json {} --help";

/// A host whose environment has this launcher.
fn launching(launcher: &Stub) -> McpRuntimeBuilder {
    let local = environment("local").sandbox_state(state("0"));
    builder().environment(local.launcher(launcher.executable()))
}

async fn play(launcher: &Stub, script: &Script) -> (Host, ServerProcess) {
    let process = script.command();
    let builder = launching(launcher).server(stdio(SERVER, &process));
    (Host::begin(builder).settled().await, process)
}

/// The call failed like this before it was sent.
#[track_caller]
fn check_not_sent(
    process: &ServerProcess,
    called: Result<ToolOutput, CallError>,
    code: ErrorCode,
) -> CallError {
    let error = called.expect_err("nobody was asked");
    assert_eq!(error.code(), code, "{}", text(&error));
    assert_eq!(process.log().count_calls("t"), 0);
    error
}

/// S5: whoever calls, on whichever connection of whichever runtime of the process.
#[tokio::test]
async fn a_launcher_is_asked_once_for_all_servers() {
    let launcher = Stub::new("exit 0");
    let processes = [opted_in().command(), opted_in().command()];
    let hosts = processes.each_ref().map(|process| {
        let builder = launching(&launcher).server(stdio(SERVER, process));
        Host::begin(builder)
    });
    for host in &hosts {
        at_once(host.runtime.settled()).await;
    }
    let [one, other] = &hosts;
    let (first, second) = tokio::join!(one.call("t"), other.call("t"));
    for called in [first, second, one.call("t").await] {
        called.expect("an answer");
    }
    one.end().await;
    other.end().await;
    assert_eq!(launcher.questions(), [QUESTION]);
    let executable = launcher.executable();
    let named = meta("", Some("0"), executable.to_str());
    assert_eq!(told(&processes[0]), [named.clone(), named.clone()]);
    assert_eq!(told(&processes[1]), [named]);
}

/// S4: it takes time, and is for those only who can use it.
#[tokio::test]
async fn no_launcher_is_asked_for_whom_it_is_of_no_use() {
    let launcher = Stub::new("exit 0");
    let opted_in = capabilities(&json!({"codex/sandbox-state": {}}));
    for (place, capabilities, has_state, why) in [
        (Place::Process, json!({"tools": {}}), true, "not opted in"),
        (Place::Endpoint, opted_in.clone(), true, "not a process"),
        (Place::Process, opted_in, false, "nothing to apply"),
    ] {
        let peer = Peer::new(place, &capabilities).await;
        let mut local = environment("local").launcher(launcher.executable());
        if has_state {
            local = local.sandbox_state(state("0"));
        }
        let builder = builder().environment(local);
        let host = Host::begin(builder.server(peer.config())).settled().await;
        host.call("t").await.expect(why);
        host.end().await;
        assert!(launcher.questions().is_empty(), "{why}");
    }
}

/// S4: the call is made, and the log says once what is missing and why.
#[tokio::test]
async fn one_that_is_none_is_left_out_and_told_once() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt().with_ansi(false);
    let subscriber = subscriber.with_writer(move || writer.clone()).finish();
    let _logging = tracing::subscriber::set_default(subscriber);
    let launcher = Stub::new("exit 3");
    let (host, process) = play(&launcher, &opted_in()).await;
    for _ in 0..3 {
        host.call("t").await.expect("an answer");
    }
    host.end().await;
    assert_eq!(launcher.questions(), [QUESTION]);
    let without = meta("", Some("0"), None);
    assert_eq!(told(&process), [without.clone(), without.clone(), without]);
    let told = log.text();
    let why = "is not used as a sandbox launcher: it does not know how to apply a sandbox state";
    assert_eq!(told.matches(why).count(), 1, "{told}");
}

/// B3: running out here is the same failure as anywhere else.
#[tokio::test]
async fn the_time_it_takes_is_the_calls() {
    let launcher = Stub::waiting();
    let (host, process) = play(&launcher, &opted_in()).await;
    let budget = Duration::from_millis(300);
    let called = host
        .call_with("t", CallOptions::new().timeout(budget))
        .await;
    let error = check_not_sent(&process, called, ErrorCode::RequestTimeout);
    let elapsed = error.request().and_then(|request| request.elapsed());
    assert_eq!(elapsed.expect("a time-out").budget(), budget);
    host.end().await;
}

/// B4
#[tokio::test]
async fn a_call_that_is_dropped_meanwhile_leaves_nothing() {
    let launcher = Stub::waiting();
    let (host, process) = play(&launcher, &opted_in()).await;
    let asked = tokio::select! {
        called = host.call("t") => panic!("nobody can have answered: {called:?}"),
        asked = launcher.started() => asked,
    };
    gone(asked).await;
    host.end().await;
    let sent = process.log().messages();
    let of_call = ["tools/call", "notifications/cancelled"];
    let of_call = |message: &&Value| of_call.iter().any(|name| message["method"] == *name);
    assert_eq!(sent.iter().filter(of_call).count(), 0, "{sent:?}");
}

/// R10: nobody waits for a launcher on behalf of a server that is gone.
#[tokio::test]
async fn a_call_whose_server_dies_meanwhile_fails_at_once() {
    let launcher = Stub::waiting();
    let script = opted_in().tool_named("die");
    let script = script.rule(Rule::on_tool("die", [Action::Exit(3)]));
    let (host, process) = play(&launcher, &script).await;
    let call = host.prepare("t");
    let die = async {
        let asked = launcher.started().await;
        quietly(&host, "die").await.expect_err("it dies");
        (asked, Instant::now())
    };
    let call = at_once(call.execute(CallOptions::new()));
    let call = async { (call.await, Instant::now()) };
    let ((called, failed), (asked, died)) = tokio::join!(call, die);
    let waited = failed.saturating_duration_since(died);
    assert!(waited < LauncherProbe::TIME_LIMIT / 2, "{waited:?}");
    let error = check_not_sent(&process, called, ErrorCode::TransportClosed);
    assert!(
        text(&error).contains("exited with status 3"),
        "{}",
        text(&error)
    );
    gone(asked).await;
    host.end().await;
}

/// B2: what was captured is looked at when everything else is done.
#[tokio::test]
async fn a_call_whose_tool_changes_meanwhile_is_refused() {
    let launcher = Stub::waiting();
    let changed = json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
    let new = json!({"tools": [{"name": "t", "description": "another"}, {"name": "change"}]});
    let script = opted_in()
        .tool_named("change")
        .rule(Rule::on("tools/list", [Action::Standard]).times(1));
    let script = script
        .rule(Rule::on("tools/list", [Action::Result(new)]))
        .rule(Rule::on_tool(
            "change",
            [Action::Standard, Action::Send(changed)],
        ));
    let (mut host, process) = play(&launcher, &script).await;
    let call = at_once(host.prepare("t").execute(CallOptions::new()));
    let change = async {
        launcher.started().await;
        quietly(&host, "change").await.expect("an answer");
        let changed = |event: &RuntimeEvent| matches!(event, RuntimeEvent::CatalogChanged { .. });
        host.await_event(changed).await;
        launcher.release();
    };
    let (called, ()) = tokio::join!(call, change);
    check_not_sent(&process, called, ErrorCode::CatalogChanged);
    host.end().await;
}

/// Calls a tool under no authority, so that no launcher is asked.
async fn quietly(host: &Host, tool: &str) -> Result<ToolOutput, CallError> {
    let local = "local".parse().expect("an id");
    let changed = host.runtime.set_launcher(&local, None);
    changed.expect("a known environment");
    host.call(tool).await
}

/// What was logged.
#[derive(Debug, Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    fn text(&self) -> String {
        let log = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&log).into_owned()
    }
}

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut log = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        log.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
