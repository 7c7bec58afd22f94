//! What `--json` says of servers, tools and failures: the forms of the JSON lines interface.

use std::time::Duration;

use mcp_runtime::{
    BoundTool, ErrorChain, ErrorCode, RpcError, ServerState, ServerStatus, StartupError,
};
use serde::Serialize;
use serde_json::value::RawValue;

/// One server.
#[derive(Debug, Serialize)]
pub(crate) struct ServerReport {
    server: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    environment_id: Option<String>,
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
    error: Option<ErrorReport>,
}

/// One tool, with its server's own object.
#[derive(Debug, Serialize)]
pub(crate) struct ToolReport<'a> {
    server: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    environment_id: Option<&'a str>,
    tool: &'a str,
    namespace: &'a str,
    name: &'a str,
    definition: &'a RawValue,
}

/// One failure.
#[derive(Debug, Serialize)]
pub(crate) struct ErrorReport {
    code: &'static str,
    outcome: &'static str,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    rpc: Option<RpcReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stderr_tail: Option<String>,
}

#[derive(Debug, Serialize)]
struct RpcReport {
    code: i64,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<Box<RawValue>>,
}

impl ServerReport {
    pub(crate) fn new(status: &ServerStatus) -> Self {
        let key = status.key();
        let mut report = Self {
            server: key.name().to_string(),
            environment_id: key.environment().map(ToString::to_string),
            status: "failed",
            tools: 0,
            era: None,
            listing: None,
            elapsed_ms: 0,
            reason: None,
            error: None,
        };
        match status.state() {
            ServerState::Ready {
                tools,
                era,
                elapsed,
                shared,
            } => {
                report.status = "ready";
                report.tools = *tools;
                report.era = Some(era.as_str());
                report.listing = Some(if *shared { "shared" } else { "fetched" });
                report.elapsed_ms = millis(*elapsed);
            }
            ServerState::Failed { error, elapsed } => {
                report.elapsed_ms = millis(*elapsed);
                report.error = Some(ErrorReport::of_startup(error));
            }
            ServerState::Disconnected { why } => {
                let error = ErrorReport::new(ErrorCode::TransportClosed, why.to_string());
                report.error = Some(error.with_stderr(why.stderr_tail()));
            }
            ServerState::Cancelled => {
                let message = "its startup was given up".to_owned();
                report.error = Some(ErrorReport::new(ErrorCode::Cancelled, message));
            }
            ServerState::Hidden { reason } => {
                report.status = "hidden";
                report.reason = Some(reason.to_string());
            }
            ServerState::Disabled => report.status = "disabled",
            ServerState::Starting => report.status = "starting",
            _ => report.status = "unknown",
        }
        report
    }
}

impl<'a> ToolReport<'a> {
    pub(crate) fn new(tool: &BoundTool<'a>) -> Self {
        let server = tool.key().server();
        Self {
            server: server.name().as_str(),
            environment_id: server.environment().map(|id| id.as_str()),
            tool: tool.key().tool().as_str(),
            namespace: tool.name().namespace(),
            name: tool.name().flat(),
            definition: tool.tool().definition(),
        }
    }
}

impl ErrorReport {
    pub(crate) fn new(code: ErrorCode, message: String) -> Self {
        Self {
            code: code.as_str(),
            outcome: code.outcome().as_str(),
            message,
            rpc: None,
            stderr_tail: None,
        }
    }

    fn of_startup(error: &StartupError) -> Self {
        let report = Self::new(error.code(), ErrorChain(error).to_string());
        Self {
            rpc: error.rpc().as_ref().map(RpcReport::new),
            ..report.with_stderr(error.stderr_tail())
        }
    }

    fn with_stderr(self, tail: &str) -> Self {
        Self {
            stderr_tail: (!tail.is_empty()).then(|| tail.to_owned()),
            ..self
        }
    }
}

impl RpcReport {
    fn new(error: &RpcError) -> Self {
        Self {
            code: error.code(),
            message: error.message().to_owned(),
            data: error.data().map(ToOwned::to_owned),
        }
    }
}

/// Whole milliseconds.
pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
