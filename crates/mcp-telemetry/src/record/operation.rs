//! One request, from its beginning to whatever became of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use opentelemetry::KeyValue;
use tokio::time::Instant;
use tracing::Span;

use super::attribute::{self, codex, fixed};
use super::instruments::CodexInstruments;
use super::series::{Names, Series};
use super::server::Server;
use super::span;
use crate::{ErrorCode, ToolErrorCode, ToolReport};

/// The type of error of a tool that says it failed.
const TOOL_ERROR: &str = "tool_error";

/// A request that is being made. It is recorded exactly once: with what is said of its end, and as cancelled when it is
/// dropped before.
#[derive(Debug)]
#[must_use = "dropped, it is recorded as cancelled"]
pub struct OperationRecording(Option<UnderWay>);

#[derive(Debug)]
struct UnderWay {
    server: Arc<Server>,
    series: Arc<Series>,
    span: Span,
    begun: Instant,
    /// The id of its first message; 0 as long as there is none.
    id: AtomicU64,
}

/// Why a request got no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub struct RequestFailure {
    code: ErrorCode,
    rpc_status: Option<i64>,
}

/// How a request ended.
enum End<'a> {
    Succeeded,
    ToolFailed(&'a ToolErrorCode),
    Failed(RequestFailure),
}

impl RequestFailure {
    /// For this reason.
    pub fn new(code: ErrorCode) -> Self {
        Self {
            code,
            rpc_status: None,
        }
    }

    /// With the numeric code of the JSON-RPC error that the server answered with.
    pub fn rpc_status(mut self, status: i64) -> Self {
        self.rpc_status = Some(status);
        self
    }
}

impl From<ErrorCode> for RequestFailure {
    fn from(code: ErrorCode) -> Self {
        Self::new(code)
    }
}

impl OperationRecording {
    /// Nobody wants to know.
    pub(super) const OFF: Self = Self(None);

    pub(super) fn begin(server: &Arc<Server>, series: Arc<Series>, begun: Instant) -> Self {
        let span = span::of_request(&series, server.labels().name());
        Self(Some(UnderWay {
            server: server.clone(),
            series,
            span,
            begun,
            id: AtomicU64::new(0),
        }))
    }

    /// The span, to run the request in; disabled when nobody listens.
    #[must_use]
    pub fn span(&self) -> Span {
        self.0
            .as_ref()
            .map_or_else(Span::none, |under_way| under_way.span.clone())
    }

    /// The request was given an id. Of several rounds of one request the first counts.
    pub fn requested(&self, id: u64) {
        if let Some(under_way) = &self.0 {
            let _ = under_way
                .id
                .compare_exchange(0, id, Ordering::Relaxed, Ordering::Relaxed);
        }
    }

    /// The version of the protocol that is spoken.
    pub fn protocol_version(&self, version: &str) {
        if let Some(under_way) = &self.0
            && under_way.series.names == Names::Conventional
        {
            under_way.span.record(attribute::PROTOCOL_VERSION, version);
        }
    }

    /// The number of the call, for whoever puts spans and other records together.
    pub fn call_id(&self, id: u64) {
        if let Some(under_way) = &self.0
            && under_way.series.names == Names::Codex
        {
            under_way.span.record("tool.call_id", id);
        }
    }

    /// The request got what it asked for.
    pub fn succeeded(mut self) {
        if let Some(under_way) = self.0.take() {
            under_way.end(&End::Succeeded);
        }
    }

    /// The tool answered, be it that it failed (T3).
    pub fn answered(mut self, report: &ToolReport) {
        let Some(under_way) = self.0.take() else {
            return;
        };
        under_way.tell(report);
        under_way.end(&match report.error_code() {
            Some(code) => End::ToolFailed(code),
            None => End::Succeeded,
        });
    }

    /// There was no result.
    pub fn failed(mut self, failure: impl Into<RequestFailure>) {
        if let Some(under_way) = self.0.take() {
            under_way.end(&End::Failed(failure.into()));
        }
    }
}

impl Drop for OperationRecording {
    fn drop(&mut self) {
        if let Some(under_way) = self.0.take() {
            under_way.end(&End::Failed(ErrorCode::Cancelled.into()));
        }
    }
}

impl UnderWay {
    /// What the result says to those who watch it.
    fn tell(&self, report: &ToolReport) {
        let (target, user_flow) = match self.series.names {
            Names::Conventional => (attribute::TARGET, attribute::USER_FLOW),
            Names::Codex => (codex::TARGET, codex::USER_FLOW),
        };
        if let Some(id) = report.target_id() {
            self.span.record(target, id);
        }
        if let Some(triggered) = report.did_trigger_server_user_flow() {
            self.span.record(user_flow, triggered);
        }
    }

    fn end(self, end: &End<'_>) {
        self.end_span(end);
        let elapsed = self.begun.elapsed().as_secs_f64();
        let instruments = self.server.instruments();
        if let (Names::Codex, Some(codex)) = (self.series.names, &instruments.codex) {
            return self.count_for_codex(codex, elapsed, end);
        }
        let Some(error_type) = end.error_type() else {
            return instruments.operation.record(elapsed, &self.series.metric);
        };
        let failed = self.with(
            &self.series.metric,
            [fixed(attribute::ERROR_TYPE, error_type)],
        );
        instruments.operation.record(elapsed, &failed);
        if let Some(errors) = &self.series.errors {
            let code = self.bounded(attribute::ERROR_CODE, end);
            let failed = self.with(errors, [fixed(attribute::ERROR_TYPE, error_type), code]);
            instruments.call_errors.add(1, &failed);
        }
    }

    fn count_for_codex(&self, codex: &CodexInstruments, seconds: f64, end: &End<'_>) {
        let error_type = end.error_type_for_codex();
        let status = error_type.map_or("ok", |_| "error");
        let ended = self.with(&self.series.metric, [fixed("status", status)]);
        codex.calls.add(1, &ended);
        codex.milliseconds.record(seconds * 1000.0, &ended);
        if let (Some(errors), Some(error_type)) = (&self.series.errors, error_type) {
            let code = self.bounded("error_code", end);
            let failed = self.with(errors, [fixed("error_type", error_type), code]);
            codex.errors.add(1, &failed);
        }
    }

    fn end_span(&self, end: &End<'_>) {
        if self.span.is_disabled() {
            return;
        }
        let id = self.id.load(Ordering::Relaxed);
        if id != 0 && self.series.names == Names::Conventional {
            self.span.record(attribute::REQUEST_ID, id.to_string());
        }
        if let End::Failed(RequestFailure {
            rpc_status: Some(status),
            ..
        }) = end
        {
            self.span.record(attribute::RPC_STATUS, status.to_string());
        }
        let (error_type, key) = match self.series.names {
            Names::Conventional => (end.error_type(), attribute::ERROR_CODE),
            Names::Codex => (end.error_type_for_codex(), codex::ERROR_CODE),
        };
        if let Some(error_type) = error_type {
            span::fail(&self.span, error_type, (key, end.code()));
        }
    }

    fn with<const N: usize>(&self, attributes: &[KeyValue], more: [KeyValue; N]) -> Vec<KeyValue> {
        attributes.iter().cloned().chain(more).collect()
    }

    /// The code, as far as metrics have room for it (T3).
    fn bounded(&self, key: &'static str, end: &End<'_>) -> KeyValue {
        match end {
            End::ToolFailed(code) => self.server.bounded(key, code),
            End::Failed(failure) => fixed(key, failure.code.as_str()),
            End::Succeeded => fixed(key, ""),
        }
    }
}

impl End<'_> {
    fn error_type(&self) -> Option<&'static str> {
        match self {
            Self::Succeeded => None,
            Self::ToolFailed(_) => Some(TOOL_ERROR),
            Self::Failed(failure) => Some(failure.code.as_str()),
        }
    }

    fn error_type_for_codex(&self) -> Option<&'static str> {
        match self {
            Self::Succeeded => None,
            Self::ToolFailed(_) => Some("tool_result"),
            Self::Failed(_) => Some("mcp_request"),
        }
    }

    fn code(&self) -> &str {
        match self {
            Self::Succeeded => "",
            Self::ToolFailed(code) => code.as_str(),
            Self::Failed(failure) => failure.code.as_str(),
        }
    }
}
