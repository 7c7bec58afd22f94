//! Under which names calls are recorded.

/// Under which names the spans and metrics of calls are recorded (T5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum TelemetryProfile {
    /// Those of OpenTelemetry's conventions for MCP.
    #[default]
    OpenTelemetry,
    /// Those that dashboards made for the Codex CLI know: spans `mcp.tools.call`, metrics `codex.mcp.call*`. What is no
    /// call keeps its name.
    Codex,
}
