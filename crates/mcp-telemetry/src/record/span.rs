//! Spans of `tracing` that `tracing-opentelemetry` exports under the conventional names.

use opentelemetry::trace::{SpanId, TraceContextExt};
use opentelemetry::{Context, KeyValue, Value};
use tracing::Span;
use tracing::field::Empty;

use super::attribute::STATUS;
use super::series::{Names, Series};

/// The span of a request. What does not fit the others is left empty.
pub(super) fn of_request(series: &Series, server: Option<&str>) -> Span {
    let span = match series.names {
        Names::Conventional => conventional(&series.span_name, server),
        Names::Codex => codex(&series.span_name, server),
    };
    add(&span, &series.span);
    span
}

fn conventional(name: &str, server: Option<&str>) -> Span {
    tracing::info_span!(
        target: "mcp",
        "mcp.client.operation",
        otel.name = name,
        otel.kind = "client",
        otel.status_code = Empty,
        mcp.server.name = server,
        mcp.environment.id = Empty,
        mcp.method.name = Empty,
        mcp.protocol.version = Empty,
        gen_ai.operation.name = Empty,
        gen_ai.tool.name = Empty,
        network.transport = Empty,
        server.address = Empty,
        server.port = Empty,
        jsonrpc.request.id = Empty,
        rpc.response.status_code = Empty,
        error.type = Empty,
        mcp.error.code = Empty,
        mcp.target.id = Empty,
        mcp.server_user_flow.triggered = Empty,
    )
}

fn codex(name: &str, server: Option<&str>) -> Span {
    tracing::info_span!(
        target: "mcp",
        "mcp.tools.call",
        otel.name = name,
        otel.kind = "client",
        otel.status_code = Empty,
        mcp.server.name = server,
        mcp.server.origin = Empty,
        mcp.environment.id = Empty,
        mcp.transport = Empty,
        rpc.system = Empty,
        rpc.method = Empty,
        tool.name = Empty,
        tool.call_id = Empty,
        error.type = Empty,
        codex.mcp.error.code = Empty,
        codex.mcp.target.id = Empty,
        codex.mcp.server_user_flow.triggered = Empty,
    )
}

/// The span of a startup.
pub(super) fn of_startup(server: Option<&str>, attributes: &[KeyValue]) -> Span {
    let span = tracing::info_span!(
        target: "mcp",
        "mcp.client.startup",
        otel.kind = "internal",
        otel.status_code = Empty,
        mcp.server.name = server,
        mcp.environment.id = Empty,
        mcp.protocol.version = Empty,
        mcp.listing = Empty,
        network.transport = Empty,
        server.address = Empty,
        server.port = Empty,
        error.type = Empty,
        mcp.error.code = Empty,
    );
    add(&span, attributes);
    span
}

/// Adds attributes that the span was declared with.
///
/// `tracing-opentelemetry` copies each text that `tracing` hands it. Where it has made a span of OpenTelemetry's out of
/// this one, they are therefore given to that one, which shares them; otherwise to `tracing`, for whoever listens.
pub(super) fn add(span: &Span, attributes: &[KeyValue]) {
    if span.is_disabled() || attributes.is_empty() {
        return;
    }
    let around = current();
    let is_added = span.in_scope(|| {
        Context::map_current(|context| {
            let inner = context.span();
            let is_its_own = inner.span_context().span_id() != around;
            if is_its_own && inner.is_recording() {
                inner.set_attributes(attributes.iter().cloned());
            }
            is_its_own
        })
    });
    if !is_added {
        for attribute in attributes {
            record(span, attribute.key.as_str(), &attribute.value);
        }
    }
}

fn current() -> SpanId {
    Context::map_current(|context| context.span().span_context().span_id())
}

fn record(span: &Span, key: &str, value: &Value) {
    match value {
        Value::Bool(value) => span.record(key, value),
        Value::I64(value) => span.record(key, value),
        Value::F64(value) => span.record(key, value),
        value => span.record(key, &*value.as_str()),
    };
}

/// What this names failed.
pub(super) fn fail(span: &Span, error_type: &str, code: (&'static str, &str)) {
    let (key, code) = code;
    span.record(STATUS, "error");
    span.record(super::attribute::ERROR_TYPE, error_type);
    span.record(key, code);
}
