//! Two environments with a server `docs` each, behind what a host puts before their calls.

use mcp_runtime::{
    CallError, CallOptions, Environment, McpRuntimeBuilder, McpServerKey, MultiEnvironment,
    PreparedCall, ReconnectPolicy, ServerConfig, ToolOutput,
};
use mcp_testkit::{Action, Rule, Script, ServerProcess};
use serde_json::Value;

use crate::host::{Host, at_once, stdio};

/// The environments; the first one is the primary.
pub(crate) const LOCAL: &str = "local";
pub(crate) const DEVBOX: &str = "devbox";

/// A host with the two of them, and their processes.
#[derive(Debug)]
pub(crate) struct Pair {
    pub(crate) host: Host,
    pub(crate) local: ServerProcess,
    pub(crate) devbox: ServerProcess,
}

impl Pair {
    /// Both servers have the tools `search`, which answers with what it was asked, and `mute`, which never answers.
    pub(crate) async fn start(builder: McpRuntimeBuilder) -> Self {
        Self::start_with(builder, |server| server).await
    }

    /// As [`start`](Self::start), with both servers configured like this.
    pub(crate) async fn start_with(
        builder: McpRuntimeBuilder,
        configured: impl Fn(ServerConfig) -> ServerConfig,
    ) -> Self {
        let (local, devbox) = (docs().command(), docs().command());
        let environment = |id: &str, process| {
            let server = configured(stdio("docs", process));
            Environment::new(id.parse().expect("an environment id")).server(server)
        };
        let builder = builder
            .reconnect(ReconnectPolicy::never())
            .multi_environment(MultiEnvironment::On)
            .environment(environment(LOCAL, &local))
            .environment(environment(DEVBOX, &devbox));
        let host = Host::begin(builder).settled().await;
        Self {
            host,
            local,
            devbox,
        }
    }

    pub(crate) fn prepare(&self, environment: &str, tool: &str) -> PreparedCall {
        let binding = self.host.runtime.capture();
        let prepared = binding.prepare_tool("docs", Some(environment), tool);
        prepared.expect("a listed tool of a connected server")
    }

    /// Calls `search` of an environment.
    pub(crate) async fn search(
        &self,
        environment: &str,
        options: CallOptions,
    ) -> Result<ToolOutput, CallError> {
        let call = self.prepare(environment, "search");
        at_once(call.execute(options)).await
    }

    /// The parameters of every call that reached a server: of the first environment, and of the second.
    pub(crate) fn arrived(&self) -> [Vec<Value>; 2] {
        [&self.local, &self.devbox].map(calls)
    }
}

/// The parameters of every call that reached a process.
pub(crate) fn calls(process: &ServerProcess) -> Vec<Value> {
    let messages = process.log().messages().into_iter();
    let calls = messages.filter(|message| message["method"] == "tools/call");
    calls.map(|call| call["params"].clone()).collect()
}

fn docs() -> Script {
    let script = Script::new().tool_named("mute").tool_named("search");
    let script = script.rule(Rule::on_tool("mute", []));
    script.rule(Rule::on_tool("search", [Action::Echo]))
}

/// The key of `docs` in an environment.
pub(crate) fn docs_in(environment: &str) -> McpServerKey {
    let environment = environment.parse().expect("an environment id");
    McpServerKey::in_environment(environment, "docs".parse().expect("a server name"))
}

/// The key of the host's own `docs`.
pub(crate) fn docs_of_the_host() -> McpServerKey {
    McpServerKey::host("docs".parse().expect("a server name"))
}
