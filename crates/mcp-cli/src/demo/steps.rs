//! The steps of the demo: what each does, and what is checked.

use std::time::Duration;

use mcp_runtime::{
    Binding, CallError, CallOptions, ErrorChain, ErrorCode, McpRuntime, ServerState, ServerStatus,
    ShutdownReport, StartupErrorKind, ToolOutput,
};
use serde::Deserialize;
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};
use tokio::time::Instant;

use super::cast::{DEVBOX, DOCS, LOCAL, MISSING};
use super::server;
use super::story::Step;
use super::vigil::Vigil;
use crate::report::{ErrorReport, ServerReport, ToolReport, millis};

/// The time that the long call gets.
const PATIENCE: Duration = Duration::from_millis(300);
/// How much later than its time limit a call may come back on a busy machine.
const SLACK: Duration = Duration::from_secs(1);

pub(super) async fn start(runtime: &McpRuntime, vigil: &Vigil) -> Step {
    let mut step = Step::new("Start all three at once");
    runtime.settled().await;
    let servers = runtime.status();
    for server in &servers {
        step.line(fate(server));
    }
    let ready = |environment| {
        servers.iter().any(|server| {
            is_docs_of(server, environment) && matches!(server.state(), ServerState::Ready { .. })
        })
    };
    step.check("both `docs` are ready", ready(LOCAL) && ready(DEVBOX));
    let told = servers.iter().any(|server| {
        server.key().name().as_str() == MISSING
            && matches!(server.state(), ServerState::Failed { error, .. }
                if matches!(error.kind(), StartupErrorKind::Spawn(_)))
    });
    step.check(
        "the third failed, with a reason, and cost them nothing",
        told,
    );
    step.check(
        "server processes are running",
        vigil.sees_anyone().is_ok_and(|alive| alive),
    );
    let reports: Vec<_> = servers.iter().map(ServerReport::new).collect();
    step.data("servers", &reports);
    step
}

pub(super) fn names(binding: &Binding) -> Step {
    let mut step = Step::new("The names a model sees");
    let (local, devbox) = (names_in(binding, LOCAL), names_in(binding, DEVBOX));
    for (environment, names) in [(LOCAL, &local), (DEVBOX, &devbox)] {
        for (tool, name) in names {
            step.line([&format!("{DOCS} ({environment})"), tool, name]);
        }
    }
    let same_tools = local
        .iter()
        .map(|(tool, _)| tool)
        .eq(devbox.iter().map(|(tool, _)| tool));
    step.check("both offer the same tools", same_tools && !local.is_empty());
    let differ = local
        .iter()
        .all(|(_, name)| devbox.iter().all(|(_, other)| name != other));
    step.check("and no two of them have the same name", differ);
    let tools: Vec<_> = binding.tools().collect();
    let reports: Vec<_> = tools.iter().map(ToolReport::new).collect();
    step.data("tools", &reports);
    step
}

pub(super) async fn search(binding: &Binding, environment: &str) -> Step {
    let mut step = Step::new(&format!(
        "Call `search` of {DOCS} ({environment}) by its name"
    ));
    let name = names_in(binding, environment)
        .into_iter()
        .find(|(tool, _)| tool == server::SEARCH);
    let name = name.map(|(_, name)| name).unwrap_or_default();
    let arguments = raw(&json!({"query": "deadline"}));
    step.line([name.as_str(), arguments.get()]);
    match binding.prepare(&name) {
        Ok(call) => {
            let called = call.execute(CallOptions::new().arguments(arguments)).await;
            answered(&mut step, &called, environment);
        }
        Err(error) => {
            step.line([ErrorChain(&error).to_string()]);
            step.check("the name leads to its tool", false);
        }
    }
    step
}

/// Shows what a call gave, and checks where it was answered.
fn answered(step: &mut Step, called: &Result<ToolOutput, CallError>, environment: &str) {
    match called {
        Ok(output) => {
            step.line([output.text()]);
            let place = place_of(output);
            step.check(
                &format!("it was answered in `{environment}`"),
                !output.is_error() && place.as_deref() == Some(environment),
            );
            step.data("result", output.raw());
        }
        Err(error) => {
            step.line([ErrorChain(error).to_string()]);
            step.check("the call was answered", false);
            step.data("error", &ErrorReport::of_call(error));
        }
    }
}

pub(super) async fn deadline(binding: &Binding) -> Step {
    let limit = format!("{} ms", PATIENCE.as_millis());
    let mut step = Step::new(&format!(
        "Call a tool that takes a minute, and wait {limit} for it"
    ));
    let call = match binding.prepare_tool(DOCS, Some(DEVBOX), server::REINDEX) {
        Ok(call) => call,
        Err(error) => {
            step.line([ErrorChain(&error).to_string()]);
            step.check("the tool is there", false);
            return step;
        }
    };
    let begun = Instant::now();
    let called = call.execute(CallOptions::new().timeout(PATIENCE)).await;
    let took = begun.elapsed();
    match &called {
        Ok(output) => step.line([output.text()]),
        Err(error) => {
            step.line([ErrorChain(error).to_string()]);
            step.data("error", &ErrorReport::of_call(error));
        }
    }
    let timed_out = called.is_err_and(|error| error.code() == ErrorCode::RequestTimeout);
    step.check(
        &format!(
            "the call came back after {} ms, as a timeout",
            took.as_millis()
        ),
        timed_out && took >= PATIENCE && took < PATIENCE + SLACK,
    );
    match binding.prepare_tool(DOCS, Some(DEVBOX), server::READ) {
        Ok(call) => {
            let arguments = raw(&json!({"page": "deadlines"}));
            let called = call.execute(CallOptions::new().arguments(arguments)).await;
            let place = called.as_ref().ok().and_then(place_of);
            step.check(
                "its server goes on answering",
                place.as_deref() == Some(DEVBOX),
            );
        }
        Err(error) => {
            step.line([ErrorChain(&error).to_string()]);
            step.check("its server goes on answering", false);
        }
    }
    step
}

/// Another day: the other servers are gone, the names are not.
pub(super) async fn start_again(runtime: &McpRuntime, before: &[(String, String)]) -> Step {
    let mut step = Step::new("Start again, with `devbox` alone");
    runtime.settled().await;
    let servers = runtime.status();
    for server in &servers {
        step.line(fate(server));
    }
    let now = names_in(&runtime.capture(), DEVBOX);
    for (tool, name) in &now {
        step.line([tool, name]);
    }
    step.check(
        "every tool has the name it had before",
        !now.is_empty() && now == before,
    );
    step.data("names", &now);
    step
}

pub(super) fn farewell(begun: Instant, report: &ShutdownReport, vigil: &Vigil) -> Step {
    let mut step = Step::since("Shut down", begun);
    step.check("no server had to be killed", report.killed().is_empty());
    step.check(
        "no process is left",
        vigil.sees_anyone().is_ok_and(|alive| !alive),
    );
    step.data("killed", &report.killed());
    step
}

/// A server's line: who, what became of it, how long that took, and why.
fn fate(server: &ServerStatus) -> [String; 4] {
    let key = server.key().to_string();
    let seconds = |elapsed: &Duration| format!("{} ms", millis(*elapsed));
    match server.state() {
        ServerState::Ready { tools, elapsed, .. } => [
            key,
            "ready".to_owned(),
            seconds(elapsed),
            format!("{tools} tools"),
        ],
        ServerState::Failed { error, elapsed } => {
            let why = std::error::Error::source(error.as_ref())
                .map_or_else(|| error.to_string(), ToString::to_string);
            [key, "failed".to_owned(), seconds(elapsed), why]
        }
        other => [key, format!("{other:?}"), String::new(), String::new()],
    }
}

fn is_docs_of(server: &ServerStatus, environment: &str) -> bool {
    let key = server.key();
    key.name().as_str() == DOCS
        && key
            .environment()
            .is_some_and(|id| id.as_str() == environment)
}

/// The tools of an environment's `docs`, each with the name a model sees.
pub(super) fn names_in(binding: &Binding, environment: &str) -> Vec<(String, String)> {
    let own = binding.tools().filter(|tool| {
        let server = tool.key().server();
        server
            .environment()
            .is_some_and(|id| id.as_str() == environment)
    });
    own.map(|tool| (tool.key().tool().to_string(), tool.name().flat().to_owned()))
        .collect()
}

/// Where the server that answered says it is.
fn place_of(output: &ToolOutput) -> Option<String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Answer {
        structured_content: Place,
    }
    #[derive(Deserialize)]
    struct Place {
        environment: String,
    }
    let answer: Answer = serde_json::from_str(output.raw().get()).ok()?;
    Some(answer.structured_content.environment)
}

fn raw(value: &serde_json::Value) -> Box<RawValue> {
    to_raw_value(value).expect("a JSON value is JSON")
}
