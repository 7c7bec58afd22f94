//! A host under test: a runtime, what it tells, and the scripted servers behind it.

use std::panic::Location;
use std::time::Duration;

use futures_util::FutureExt;
use mcp_runtime::{
    ApprovalPolicy, CallError, CallOptions, Era, ErrorChain, EventStream, McpRuntime,
    McpRuntimeBuilder, PreparedCall, ReconnectPolicy, RuntimeEvent, ServerConfig, ServerState,
    ShutdownReport, StdioTransport, ToolOutput,
};
use mcp_testkit::{Action, Rule, Script, ServerLog, ServerProcess};
use serde_json::value::RawValue;
use tokio::time::{sleep, timeout};

/// The server's name where a test has only one.
pub(crate) const SERVER: &str = "scripted";

/// How long anything may take that is to happen at once. Below every budget that a test does not set itself, and far above
/// what a loaded machine needs.
const AT_ONCE: Duration = Duration::from_secs(25);

/// A runtime and its events.
#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) runtime: McpRuntime,
    pub(crate) events: EventStream,
}

impl Host {
    /// Begins to start.
    pub(crate) fn begin(builder: McpRuntimeBuilder) -> Self {
        let (runtime, events) = builder.start().expect("a sound configuration");
        Self { runtime, events }
    }

    /// Begins to start these servers of the host's own. One that is gone stays gone, so that a log is that of one process.
    pub(crate) fn serve(servers: impl IntoIterator<Item = ServerConfig>) -> Self {
        let builder = builder().reconnect(ReconnectPolicy::never());
        Self::begin(builder.servers(servers))
    }

    /// Starts one server that must become ready.
    pub(crate) async fn play(script: &Script) -> (Self, ServerProcess) {
        let process = script.command();
        let host = Self::ready(stdio(SERVER, &process)).await;
        (host, process)
    }

    /// Starts one server that must become ready, however it is configured.
    pub(crate) async fn ready(server: ServerConfig) -> Self {
        Self::serve([server]).settled().await
    }

    /// Waits until every server is ready.
    pub(crate) async fn settled(self) -> Self {
        at_once(self.runtime.settled()).await;
        for status in self.runtime.status() {
            let (name, state) = (status.key(), status.state());
            assert!(
                matches!(state, ServerState::Ready { .. }),
                "`{name}` is not ready: {state:?}"
            );
        }
        self
    }

    /// What has become of the server with this name.
    pub(crate) fn state(&self, name: &str) -> ServerState {
        let status = self.runtime.status();
        let status = status
            .iter()
            .find(|status| status.key().name().as_str() == name);
        status.expect("a configured server").state().clone()
    }

    /// Prepares a call from what can be called now.
    pub(crate) fn prepare(&self, tool: &str) -> PreparedCall {
        let prepared = self.runtime.capture().prepare_tool(SERVER, None, tool);
        prepared.expect("a listed tool of a connected server")
    }

    /// Calls a tool that answers at once, one way or the other.
    pub(crate) async fn call(&self, tool: &str) -> Result<ToolOutput, CallError> {
        self.call_with(tool, CallOptions::new()).await
    }

    /// As [`call`](Self::call), with options.
    pub(crate) async fn call_with(
        &self,
        tool: &str,
        options: CallOptions,
    ) -> Result<ToolOutput, CallError> {
        at_once(self.prepare(tool).execute(options)).await
    }

    /// The names of the tools that can be called now, as their servers call them.
    pub(crate) fn tools(&self) -> Vec<String> {
        let binding = self.runtime.capture();
        let tools = binding.tools();
        tools.map(|tool| tool.tool().name().to_string()).collect()
    }

    /// Every event so far.
    pub(crate) fn told(&mut self) -> Vec<RuntimeEvent> {
        std::iter::from_fn(|| self.events.next().now_or_never().flatten()).collect()
    }

    /// Reads events up to the first that fits; all of them.
    pub(crate) async fn await_event(
        &mut self,
        fits: impl Fn(&RuntimeEvent) -> bool,
    ) -> Vec<RuntimeEvent> {
        let mut told = Vec::new();
        while !told.last().is_some_and(&fits) {
            let event = at_once(self.events.next()).await;
            told.push(event.expect("the events do not end without the expected one"));
        }
        told
    }

    /// Every event until there will be no more.
    pub(crate) async fn told_to_the_end(&mut self) -> Vec<RuntimeEvent> {
        let mut told = Vec::new();
        while let Some(event) = at_once(self.events.next()).await {
            told.push(event);
        }
        told
    }

    /// Shuts down with the default patience.
    pub(crate) async fn end(&self) -> ShutdownReport {
        let timeout = McpRuntime::DEFAULT_SHUTDOWN_TIMEOUT;
        at_once(self.runtime.shutdown(timeout)).await
    }
}

/// A builder whose calls nobody has to approve.
pub(crate) fn builder() -> McpRuntimeBuilder {
    McpRuntime::builder(ApprovalPolicy::approve_all())
}

/// The configuration of a server that plays a script. Scripts speak the legacy era, and are started once for it.
pub(crate) fn stdio(name: &str, process: &ServerProcess) -> ServerConfig {
    let name = name.parse().expect("a server name");
    ServerConfig::stdio(name, transport(process)).era(Era::Legacy)
}

/// The way to a server that plays a script.
pub(crate) fn transport(process: &ServerProcess) -> StdioTransport {
    let text = |path: std::ffi::OsString| path.into_string().expect("test paths are text");
    StdioTransport::new(text(process.program().into()))
        .args(process.args().into_iter().map(text).collect::<Vec<_>>())
}

/// Adds a tool that does this when it is called.
pub(crate) fn with_tool(
    script: Script,
    name: &str,
    run: impl IntoIterator<Item = Action>,
) -> Script {
    script.tool_named(name).rule(Rule::on_tool(name, run))
}

/// Raw JSON.
pub(crate) fn raw(json: &str) -> Box<RawValue> {
    RawValue::from_string(json.to_owned()).expect("JSON")
}

/// An error with its reasons.
pub(crate) fn text(error: &(dyn std::error::Error + 'static)) -> String {
    ErrorChain(error).to_string()
}

/// What must not wait for any budget.
#[track_caller]
pub(crate) fn at_once<F: Future>(future: F) -> impl Future<Output = F::Output> {
    let (future, at) = (Box::pin(future), Location::caller());
    async move {
        match timeout(AT_ONCE, future).await {
            Ok(output) => output,
            Err(_) => panic!("it is not over within {AT_ONCE:?}\n  expected at {at}"),
        }
    }
}

/// Waits until the log of a process is as it is to become.
pub(crate) async fn logged(log: &ServerLog, becomes: impl Fn(&ServerLog) -> bool) {
    at_once(async {
        while !becomes(log) {
            // Nothing tells when another process has written.
            sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
}
