//! The names of attributes.

use std::sync::Arc;

use opentelemetry::KeyValue;

pub(super) const METHOD: &str = "mcp.method.name";
pub(super) const TOOL: &str = "gen_ai.tool.name";
pub(super) const OPERATION: &str = "gen_ai.operation.name";
pub(super) const SERVER: &str = "mcp.server.name";
pub(super) const ENVIRONMENT: &str = "mcp.environment.id";
pub(super) const TRANSPORT: &str = "network.transport";
pub(super) const ADDRESS: &str = "server.address";
pub(super) const PORT: &str = "server.port";
pub(super) const PROTOCOL_VERSION: &str = "mcp.protocol.version";
pub(super) const REQUEST_ID: &str = "jsonrpc.request.id";
pub(super) const RPC_STATUS: &str = "rpc.response.status_code";
pub(super) const ERROR_TYPE: &str = "error.type";
pub(super) const ERROR_CODE: &str = "mcp.error.code";
pub(super) const TARGET: &str = "mcp.target.id";
pub(super) const USER_FLOW: &str = "mcp.server_user_flow.triggered";
pub(super) const LISTING: &str = "mcp.listing";
pub(super) const LISTING_JOIN: &str = "mcp.listing.join";
/// What `tracing-opentelemetry` reads as the status of a span.
pub(super) const STATUS: &str = "otel.status_code";

/// Of the profile `codex`.
pub(super) mod codex {
    pub(in super::super) const ERROR_CODE: &str = "codex.mcp.error.code";
    pub(in super::super) const TARGET: &str = "codex.mcp.target.id";
    pub(in super::super) const USER_FLOW: &str = "codex.mcp.server_user_flow.triggered";
}

/// What a metric says in the place of a text that is one too many.
pub(super) const OTHER: &str = "other";

pub(super) fn shared(key: &'static str, text: &Arc<str>) -> KeyValue {
    KeyValue::new(key, text.clone())
}

pub(super) fn fixed(key: &'static str, text: &'static str) -> KeyValue {
    KeyValue::new(key, text)
}
