//! What is recorded, as the real SDK of OpenTelemetry hands it to an exporter.

mod cardinality;
mod codex;
mod metrics;
mod spans;
mod trace_context;

use mcp_telemetry::{
    OperationRecording, ServerLabels, ServerRecorder, Telemetry, TelemetryBuilder, ToolReport,
};
use mcp_testkit::ExportedTelemetry;
use serde_json::value::RawValue;
use tokio::time::Instant;

fn builder(exported: &ExportedTelemetry) -> TelemetryBuilder {
    Telemetry::builder().meter(exported.meter())
}

fn telemetry(exported: &ExportedTelemetry) -> Telemetry {
    builder(exported).build()
}

/// A server in an environment.
fn docs(telemetry: &Telemetry) -> ServerRecorder {
    telemetry.server(ServerLabels::stdio("docs").environment("devbox"))
}

fn search(server: &ServerRecorder) -> OperationRecording {
    server.call("search", Instant::now())
}

fn report(result: &str) -> ToolReport {
    let raw: &RawValue = serde_json::from_str(result).unwrap();
    ToolReport::read(raw)
}

/// The result of a tool that failed with a code of its own.
fn failed_with(code: &str) -> ToolReport {
    report(&format!(
        r#"{{"isError":true,"structuredContent":{{"error_code":"{code}"}}}}"#
    ))
}
