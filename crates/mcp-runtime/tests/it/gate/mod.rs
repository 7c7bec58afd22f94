//! Those who have a say in a call before it is sent (H1, A1, L1, B3).

mod access;
mod approval;
mod hook;
mod moment;
mod remembered;

use mcp_runtime::{
    Blocked, CallError, CallErrorKind, CallOptions, ErrorCode, McpRuntimeBuilder, ReconnectPolicy,
    ToolOutput,
};
use mcp_testkit::{Script, ServerProcess};
use serde_json::Value;

use crate::host::{Host, SERVER, at_once, raw, stdio};

/// A host with one server that has a tool `t`, which says what it was given.
struct Stage {
    host: Host,
    process: ServerProcess,
}

impl Stage {
    async fn set(builder: McpRuntimeBuilder) -> Self {
        let process = Script::new().tool_named("t").tool_named("u").command();
        let builder = builder.reconnect(ReconnectPolicy::never());
        let host = Host::begin(builder.server(stdio(SERVER, &process)));
        let host = host.settled().await;
        Self { host, process }
    }

    async fn call(&self, options: CallOptions) -> Result<ToolOutput, CallError> {
        self.host.call_with("t", options).await
    }

    /// Calls with `{"n": 1e2}`; what the server got.
    async fn sent(&self) -> Value {
        let options = CallOptions::new().arguments(raw(r#"{"n":1e2}"#));
        self.call(options).await.expect("a result");
        let calls = self.process.log().messages().into_iter();
        let mut calls = calls.filter(|message| message["method"] == "tools/call");
        calls.next_back().expect("it was sent")["params"].clone()
    }

    /// Calls, and is not let through; why.
    async fn blocked(&self) -> Blocked {
        let error = self
            .call(CallOptions::new())
            .await
            .expect_err("it is blocked");
        assert_eq!(error.code(), ErrorCode::Blocked);
        assert_eq!(self.calls(), 0, "something was sent");
        match error.kind() {
            CallErrorKind::Blocked(blocked) => blocked.clone(),
            other => panic!("{other:?}"),
        }
    }

    /// How many calls the server got.
    fn calls(&self) -> usize {
        let messages = self.process.log().messages().into_iter();
        messages
            .filter(|message| message["method"] == "tools/call")
            .count()
    }

    async fn end(self) {
        at_once(self.host.end()).await;
    }
}
