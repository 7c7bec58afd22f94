//! A failure as `--json` and the session say it.

use std::error::Error;

use mcp_runtime::{
    CallError, ErrorChain, ErrorCode, FailureOutcome, McpServerKey, Outage, PrepareError,
    QueryError, RequestError, RpcError, StartupError,
};
use serde::Serialize;
use serde_json::value::RawValue;

/// Why a request failed.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub(crate) struct ErrorReport(Box<Details>);

#[derive(Debug, Serialize)]
struct Details {
    code: ErrorCode,
    outcome: FailureOutcome,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    rpc: Option<RpcReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stderr_tail: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    candidates: Vec<McpServerKey>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    context: Vec<Box<RawValue>>,
}

#[derive(Debug, Serialize)]
struct RpcReport {
    code: i64,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<Box<RawValue>>,
}

impl ErrorReport {
    fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self(Box::new(Details {
            code,
            outcome: code.outcome(),
            message: message.into(),
            rpc: None,
            stderr_tail: None,
            candidates: Vec::new(),
            context: Vec::new(),
        }))
    }

    fn of(code: ErrorCode, error: &(dyn Error + 'static)) -> Self {
        Self::new(code, ErrorChain(error).to_string())
    }

    /// The request itself is wrong.
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::InvalidRequest, message)
    }

    /// The request itself is wrong, and an error says how.
    pub(crate) fn invalid_because(error: &(dyn Error + 'static)) -> Self {
        Self::of(ErrorCode::InvalidRequest, error)
    }

    /// The request was cancelled.
    pub(crate) fn cancelled() -> Self {
        Self::new(ErrorCode::Cancelled, "the request was cancelled")
    }

    pub(crate) fn of_call(error: &CallError) -> Self {
        let mut failure = Self::of(error.code(), error);
        failure.0.context = error.context().to_vec();
        match error.request() {
            Some(request) => failure.with_request(request),
            None => failure,
        }
    }

    pub(crate) fn of_prepare(error: &PrepareError) -> Self {
        let mut failure = Self::of(error.code(), error);
        failure.0.candidates = error.candidates().to_vec();
        failure.with_stderr(error.outage().map_or("", Outage::stderr_tail))
    }

    pub(crate) fn of_query(error: &QueryError) -> Self {
        let mut report = Self::of(error.code(), error);
        report.0.candidates = error.candidates().to_vec();
        match error.request_error() {
            Some(request) => report.with_request(request),
            None => report.with_stderr(error.outage().map_or("", Outage::stderr_tail)),
        }
    }

    pub(super) fn of_startup(error: &StartupError) -> Self {
        let mut failure = Self::of(error.code(), error).with_stderr(error.stderr_tail());
        failure.0.rpc = error.rpc().as_ref().map(RpcReport::of);
        failure
    }

    fn with_request(mut self, error: &RequestError) -> Self {
        self.0.rpc = error.rpc().map(RpcReport::of);
        match error.disconnect() {
            Some(disconnect) => self.with_stderr(disconnect.stderr_tail()),
            None => self,
        }
    }

    fn with_stderr(mut self, tail: &str) -> Self {
        self.0.stderr_tail = Some(tail.to_owned()).filter(|tail| !tail.is_empty());
        self
    }

    /// The connection is over.
    pub(super) fn of_outage(outage: &Outage) -> Self {
        Self::of(ErrorCode::TransportClosed, outage).with_stderr(outage.stderr_tail())
    }

    #[cfg(test)]
    pub(crate) fn message(&self) -> &str {
        &self.0.message
    }
}

impl RpcReport {
    fn of(error: &RpcError) -> Self {
        Self {
            code: error.code(),
            message: error.message().to_owned(),
            data: error.data().map(ToOwned::to_owned),
        }
    }
}
