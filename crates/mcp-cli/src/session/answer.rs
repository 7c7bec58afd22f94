//! What a session answers.

use std::error::Error;
use std::time::Duration;

use mcp_runtime::{
    BoundTool, CallError, EnvironmentId, ErrorChain, ErrorCode, FailureOutcome, McpServerKey,
    PrepareError, RefreshError, RequestError, RpcError, ServerState, ServerStatus, StartupError,
    ToolOutput,
};
use serde::Serialize;
use serde_json::value::RawValue;

use super::start::Rejected;

/// The members of an answer to a request that succeeded.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Success {
    Servers {
        servers: Vec<ServerAnswer>,
    },
    Tools {
        tools: Vec<ToolAnswer>,
    },
    Called {
        outcome: &'static str,
        result: Box<RawValue>,
        #[serde(skip_serializing_if = "Option::is_none")]
        error_code: Option<String>,
        elapsed_ms: u64,
    },
    Refreshed {
        tools: usize,
    },
    Shutdown {
        killed: Vec<u32>,
    },
    Cancel {
        cancelled: bool,
    },
}

/// One server of `start` and `status`.
#[derive(Debug, Serialize)]
pub(super) struct ServerAnswer {
    server: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    environment_id: Option<EnvironmentId>,
    status: &'static str,
    tools: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    era: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    listing: Option<&'static str>,
    elapsed_ms: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Failure>,
}

/// One tool of `tools`.
#[derive(Debug, Serialize)]
pub(super) struct ToolAnswer {
    #[serde(flatten)]
    server: McpServerKey,
    tool: String,
    namespace: String,
    name: String,
    definition: Box<RawValue>,
}

/// Why a request failed.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub(super) struct Failure(Box<Details>);

#[derive(Debug, Serialize)]
struct Details {
    code: ErrorCode,
    outcome: FailureOutcome,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    rpc: Option<RpcAnswer>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stderr_tail: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    candidates: Vec<McpServerKey>,
}

#[derive(Debug, Serialize)]
struct RpcAnswer {
    code: i64,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<Box<RawValue>>,
}

impl Success {
    pub(super) fn called(output: ToolOutput, elapsed: Duration) -> Self {
        Self::Called {
            outcome: if output.is_error() {
                "tool_error"
            } else {
                "ok"
            },
            error_code: output.error_code().map(|code| code.as_str().to_owned()),
            result: output.into_raw(),
            elapsed_ms: milliseconds(elapsed),
        }
    }
}

impl ServerAnswer {
    pub(super) fn of(status: &ServerStatus) -> Self {
        let mut answer = Self::new(status.key().name().as_str(), status.key().environment());
        match status.state() {
            ServerState::Ready {
                tools,
                era,
                elapsed,
                shared,
            } => {
                answer.status = "ready";
                answer.tools = *tools;
                answer.era = Some(era.as_str());
                answer.listing = Some(if *shared { "shared" } else { "fetched" });
                answer.elapsed_ms = milliseconds(*elapsed);
            }
            ServerState::Failed { error, elapsed } => {
                answer.elapsed_ms = milliseconds(*elapsed);
                answer.error = Some(Failure::of_startup(error));
            }
            ServerState::Disconnected { why } => {
                answer.error = Some(
                    Failure::new(ErrorCode::TransportClosed, why.to_string())
                        .with_stderr(why.stderr_tail()),
                );
            }
            ServerState::Cancelled => answer.error = Some(Failure::cancelled()),
            ServerState::Hidden { reason } => {
                answer.status = "hidden";
                answer.reason = Some(reason.to_string());
            }
            ServerState::Disabled => answer.status = "disabled",
            ServerState::Starting => answer.status = "starting",
            _ => answer.status = "unknown",
        }
        answer
    }

    pub(super) fn rejected(rejected: &Rejected) -> Self {
        let error = Some(Failure::invalid(rejected.message.as_str()));
        Self {
            error,
            ..Self::new(&rejected.server, rejected.environment.as_ref())
        }
    }

    fn new(server: &str, environment: Option<&EnvironmentId>) -> Self {
        Self {
            server: server.to_owned(),
            environment_id: environment.cloned(),
            status: "failed",
            tools: 0,
            era: None,
            listing: None,
            elapsed_ms: 0,
            reason: None,
            error: None,
        }
    }
}

impl ToolAnswer {
    pub(super) fn of(tool: &BoundTool<'_>) -> Self {
        Self {
            server: tool.key().server().clone(),
            tool: tool.key().tool().to_string(),
            namespace: tool.name().namespace().to_owned(),
            name: tool.name().flat().to_owned(),
            definition: tool.tool().definition().to_owned(),
        }
    }
}

impl Failure {
    fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self(Box::new(Details {
            code,
            outcome: code.outcome(),
            message: message.into(),
            rpc: None,
            stderr_tail: None,
            candidates: Vec::new(),
        }))
    }

    fn of(code: ErrorCode, error: &(dyn Error + 'static)) -> Self {
        Self::new(code, ErrorChain(error).to_string())
    }

    /// The request itself is wrong.
    pub(super) fn invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::InvalidRequest, message)
    }

    /// The request itself is wrong, and an error says how.
    pub(super) fn invalid_because(error: &(dyn Error + 'static)) -> Self {
        Self::of(ErrorCode::InvalidRequest, error)
    }

    /// The request was cancelled.
    pub(super) fn cancelled() -> Self {
        Self::new(ErrorCode::Cancelled, "the request was cancelled")
    }

    pub(super) fn of_call(error: &CallError) -> Self {
        let failure = Self::of(error.code(), error);
        match error.request() {
            Some(request) => failure.with_request(request),
            None => failure,
        }
    }

    pub(super) fn of_prepare(error: &PrepareError) -> Self {
        let mut failure = Self::of(error.code(), error);
        failure.0.candidates = error.candidates().to_vec();
        failure
    }

    pub(super) fn of_refresh(error: &RefreshError) -> Self {
        match error {
            RefreshError::Server(error) => Self::of_prepare(error),
            RefreshError::Request(request) => Self::of(error.code(), error).with_request(request),
            _ => Self::of(error.code(), error),
        }
    }

    fn of_startup(error: &StartupError) -> Self {
        let mut failure = Self::of(error.code(), error).with_stderr(error.stderr_tail());
        failure.0.rpc = error.rpc().as_ref().map(RpcAnswer::of);
        failure
    }

    fn with_request(mut self, error: &RequestError) -> Self {
        self.0.rpc = error.rpc().map(RpcAnswer::of);
        match error.disconnect() {
            Some(disconnect) => self.with_stderr(disconnect.stderr_tail()),
            None => self,
        }
    }

    fn with_stderr(mut self, tail: &str) -> Self {
        self.0.stderr_tail = Some(tail.to_owned()).filter(|tail| !tail.is_empty());
        self
    }

    #[cfg(test)]
    pub(super) fn message(&self) -> &str {
        &self.0.message
    }
}

impl RpcAnswer {
    fn of(error: &RpcError) -> Self {
        Self {
            code: error.code(),
            message: error.message().to_owned(),
            data: error.data().map(ToOwned::to_owned),
        }
    }
}

fn milliseconds(elapsed: Duration) -> u64 {
    u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX)
}
