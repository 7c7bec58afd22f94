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

/// What went wrong with a request.
enum Fault<'a> {
    /// The tool says that it failed.
    Tool(&'a ToolErrorCode),
    /// There was no result.
    Request(RequestFailure),
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
            under_way.end(None);
        }
    }

    /// The tool answered, be it that it failed (T3).
    pub fn answered(mut self, report: &ToolReport) {
        let Some(under_way) = self.0.take() else {
            return;
        };
        under_way.tell(report);
        under_way.end(report.error_code().map(Fault::Tool));
    }

    /// There was no result.
    pub fn failed(mut self, failure: impl Into<RequestFailure>) {
        if let Some(under_way) = self.0.take() {
            under_way.end(Some(Fault::Request(failure.into())));
        }
    }
}

impl Drop for OperationRecording {
    fn drop(&mut self) {
        if let Some(under_way) = self.0.take() {
            under_way.end(Some(Fault::Request(ErrorCode::Cancelled.into())));
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

    fn end(self, fault: Option<Fault<'_>>) {
        self.end_span(fault.as_ref());
        let elapsed = self.begun.elapsed().as_secs_f64();
        let instruments = self.server.instruments();
        if let (Names::Codex, Some(codex)) = (self.series.names, &instruments.codex) {
            return self.count_for_codex(codex, elapsed, fault.as_ref());
        }
        let Some(fault) = fault else {
            return instruments.operation.record(elapsed, &self.series.metric);
        };
        let error_type = || fixed(attribute::ERROR_TYPE, fault.error_type());
        let failed = with(&self.series.metric, [error_type()]);
        instruments.operation.record(elapsed, &failed);
        if let Some(errors) = &self.series.errors {
            let code = self.bounded(attribute::ERROR_CODE, &fault);
            instruments
                .call_errors
                .add(1, &with(errors, [error_type(), code]));
        }
    }

    fn count_for_codex(&self, codex: &CodexInstruments, seconds: f64, fault: Option<&Fault<'_>>) {
        let status = fault.map_or("ok", |_| "error");
        let ended = with(&self.series.metric, [fixed("status", status)]);
        codex.calls.add(1, &ended);
        codex.milliseconds.record(seconds * 1000.0, &ended);
        if let (Some(errors), Some(fault)) = (&self.series.errors, fault) {
            let error_type = fixed("error_type", fault.error_type_for_codex());
            let code = self.bounded("error_code", fault);
            codex.errors.add(1, &with(errors, [error_type, code]));
        }
    }

    fn end_span(&self, fault: Option<&Fault<'_>>) {
        if self.span.is_disabled() {
            return;
        }
        let id = self.id.load(Ordering::Relaxed);
        if id != 0 && self.series.names == Names::Conventional {
            self.span.record(attribute::REQUEST_ID, id.to_string());
        }
        let Some(fault) = fault else { return };
        if let Fault::Request(RequestFailure {
            rpc_status: Some(status),
            ..
        }) = fault
        {
            self.span.record(attribute::RPC_STATUS, status.to_string());
        }
        let (error_type, key) = match self.series.names {
            Names::Conventional => (fault.error_type(), attribute::ERROR_CODE),
            Names::Codex => (fault.error_type_for_codex(), codex::ERROR_CODE),
        };
        span::fail(&self.span, error_type, (key, fault.code()));
    }

    /// The code, as far as metrics have room for it (T3).
    fn bounded(&self, key: &'static str, fault: &Fault<'_>) -> KeyValue {
        match fault {
            Fault::Tool(code) => self.server.bounded(key, code),
            Fault::Request(failure) => fixed(key, failure.code.as_str()),
        }
    }
}

fn with<const N: usize>(attributes: &[KeyValue], more: [KeyValue; N]) -> Vec<KeyValue> {
    attributes.iter().cloned().chain(more).collect()
}

impl Fault<'_> {
    fn error_type(&self) -> &'static str {
        match self {
            Self::Tool(_) => TOOL_ERROR,
            Self::Request(failure) => failure.code.as_str(),
        }
    }

    fn error_type_for_codex(&self) -> &'static str {
        match self {
            Self::Tool(_) => "tool_result",
            Self::Request(_) => "mcp_request",
        }
    }

    fn code(&self) -> &str {
        match self {
            Self::Tool(code) => code.as_str(),
            Self::Request(failure) => failure.code.as_str(),
        }
    }
}
