//! What a session answers.

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
pub(super) struct Failure {
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
                answer.era = Some(era);
                answer.listing = Some(if *shared { "shared" } else { "fetched" });
                answer.elapsed_ms = milliseconds(*elapsed);
            }
            ServerState::Failed { error, elapsed } => {
                answer.elapsed_ms = milliseconds(*elapsed);
                answer.error = Some(Failure::of_startup(error));
            }
            ServerState::Disconnected { why } => {
                let tail = why.stderr_tail().to_owned();
                answer.error = Some(
                    Failure::new(ErrorCode::TransportClosed, why.to_string()).with_stderr(tail),
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
        let error = Some(Failure::invalid(&rejected.message));
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
    fn new(code: ErrorCode, message: impl ToString) -> Self {
        Self {
            code,
            outcome: code.outcome(),
            message: message.to_string(),
            rpc: None,
            stderr_tail: None,
            candidates: Vec::new(),
        }
    }

    /// The request itself is wrong.
    pub(super) fn invalid(message: impl ToString) -> Self {
        Self::new(ErrorCode::InvalidRequest, message)
    }

    /// The request was cancelled.
    pub(super) fn cancelled() -> Self {
        Self::new(ErrorCode::Cancelled, "the request was cancelled")
    }

    pub(super) fn of_call(error: &CallError) -> Self {
        let failure = Self::new(error.code(), ErrorChain(error));
        match error.request() {
            Some(request) => failure.with_request(request),
            None => failure,
        }
    }

    pub(super) fn of_prepare(error: &PrepareError) -> Self {
        Self {
            candidates: error.candidates().to_vec(),
            ..Self::new(error.code(), ErrorChain(error))
        }
    }

    pub(super) fn of_refresh(error: &RefreshError) -> Self {
        match error {
            RefreshError::Server(error) => Self::of_prepare(error),
            RefreshError::Request(request) => {
                Self::new(error.code(), ErrorChain(error)).with_request(request)
            }
            _ => Self::new(error.code(), ErrorChain(error)),
        }
    }

    fn of_startup(error: &StartupError) -> Self {
        let failure =
            Self::new(error.code(), ErrorChain(error)).with_stderr(error.stderr_tail().to_owned());
        Self {
            rpc: error.rpc().as_ref().map(RpcAnswer::of),
            ..failure
        }
    }

    fn with_request(self, error: &RequestError) -> Self {
        let tail = error
            .disconnect()
            .map(|disconnect| disconnect.stderr_tail().to_owned());
        let failure = self.with_stderr(tail.unwrap_or_default());
        Self {
            rpc: error.rpc().map(RpcAnswer::of),
            ..failure
        }
    }

    fn with_stderr(self, tail: String) -> Self {
        Self {
            stderr_tail: Some(tail).filter(|tail| !tail.is_empty()),
            ..self
        }
    }

    #[cfg(test)]
    pub(super) fn message(&self) -> &str {
        &self.message
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
