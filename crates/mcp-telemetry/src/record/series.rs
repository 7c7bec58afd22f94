//! What is the same for every request of one kind: made once, so that recording one costs little.

use std::sync::Arc;

use opentelemetry::KeyValue;

use super::TelemetryProfile;
use super::attribute::{self, OTHER, fixed, shared};
use super::labels::ServerLabels;

/// The method that calls a tool.
pub(super) const CALL: &str = "tools/call";

/// The attributes of one method of one server; of calls, also of one tool.
#[derive(Debug)]
pub(super) struct Series {
    pub(super) names: Names,
    pub(super) span_name: Box<str>,
    /// Of spans, beside what differs between requests.
    pub(super) span: Vec<KeyValue>,
    /// Of metrics, where the request succeeds.
    pub(super) metric: Vec<KeyValue>,
    /// Of the counter of errors, beside what went wrong; `None` where they are not counted.
    pub(super) errors: Option<Vec<KeyValue>>,
}

/// Under which names a request is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Names {
    Conventional,
    Codex,
}

impl Series {
    pub(super) fn of_method(method: &'static str, server: &ServerLabels) -> Self {
        let method_attribute = || fixed(attribute::METHOD, method);
        let mut span = vec![method_attribute()];
        span.extend(server.place());
        let mut metric = vec![method_attribute()];
        metric.extend(server.all());
        Self {
            names: Names::Conventional,
            span_name: method.into(),
            span,
            metric,
            errors: None,
        }
    }

    /// Of calls of `tool`; `admitted` is its name as metrics know it.
    pub(super) fn of_tool(
        tool: Option<&str>,
        admitted: Option<Arc<str>>,
        server: &ServerLabels,
        profile: TelemetryProfile,
    ) -> Self {
        match profile {
            TelemetryProfile::OpenTelemetry => Self::conventional(tool, admitted, server),
            TelemetryProfile::Codex => Self::codex(tool, admitted, server),
        }
    }

    fn conventional(tool: Option<&str>, admitted: Option<Arc<str>>, server: &ServerLabels) -> Self {
        let mut series = Self::of_method(CALL, server);
        let operation = fixed(attribute::OPERATION, "execute_tool");
        series.span.push(operation.clone());
        series.metric.push(operation);
        let mut errors: Vec<_> = server.identity().collect();
        if let Some(tool) = tool {
            series.span_name = format!("{CALL} {tool}").into();
            series.span.push(exact(attribute::TOOL, tool, &admitted));
            let bounded = bounded(attribute::TOOL, admitted);
            series.metric.push(bounded.clone());
            errors.push(bounded);
        }
        series.errors = Some(errors);
        series
    }

    fn codex(tool: Option<&str>, admitted: Option<Arc<str>>, server: &ServerLabels) -> Self {
        let mut span = vec![fixed("rpc.system", "jsonrpc"), fixed("rpc.method", CALL)];
        span.extend(server.codex());
        let mut errors: Vec<_> = server.identity().map(codex_name).collect();
        if let Some(tool) = tool {
            span.push(exact("tool.name", tool, &admitted));
            errors.push(bounded("tool", admitted));
        }
        Self {
            names: Names::Codex,
            span_name: "mcp.tools.call".into(),
            span,
            metric: errors.clone(),
            errors: Some(errors),
        }
    }
}

fn codex_name(identity: KeyValue) -> KeyValue {
    match identity.key.as_str() {
        attribute::SERVER => KeyValue::new("server", identity.value),
        _ => identity,
    }
}

/// The name of a tool on a span: as it is.
fn exact(key: &'static str, tool: &str, admitted: &Option<Arc<str>>) -> KeyValue {
    let text = admitted.clone().unwrap_or_else(|| tool.into());
    shared(key, &text)
}

/// The name of a tool on a metric.
fn bounded(key: &'static str, admitted: Option<Arc<str>>) -> KeyValue {
    match admitted {
        Some(text) => shared(key, &text),
        None => fixed(key, OTHER),
    }
}
