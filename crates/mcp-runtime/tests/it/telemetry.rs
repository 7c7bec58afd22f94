//! What becomes of calls, startups and sessions is recorded once each, as the real SDK of OpenTelemetry exports it (T2 to T6).

mod calls;
mod refused;
mod same;
mod startup;
mod trace;

use mcp_runtime::{McpRuntimeBuilder, ReconnectPolicy, Telemetry};
use mcp_testkit::{ExportedTelemetry, Script, ServerProcess};

use crate::host::{Host, SERVER, builder, stdio};

/// A host with OpenTelemetry's SDK.
struct Watched {
    host: Host,
    exported: ExportedTelemetry,
    process: ServerProcess,
}

impl Watched {
    /// Starts one server that must become ready.
    async fn play(script: &Script) -> Self {
        Self::play_for(|builder| builder, script).await
    }

    /// As [`play`](Self::play), for a host that wants something of its own.
    async fn play_for(
        host: impl FnOnce(McpRuntimeBuilder) -> McpRuntimeBuilder,
        script: &Script,
    ) -> Self {
        let exported = ExportedTelemetry::begin();
        let process = script.command();
        let builder = watched(&exported).reconnect(ReconnectPolicy::never());
        let host = Host::begin(host(builder.server(stdio(SERVER, &process))));
        Self {
            host: host.settled().await,
            exported,
            process,
        }
    }

    /// The spans of calls, a line each.
    fn calls(&self) -> Vec<String> {
        calls(&self.exported)
    }

    /// Whether the span and the metrics of the one call say the same: this error, or none.
    #[track_caller]
    fn check(&self, error: Option<(&str, &str)>, why: &str) {
        let calls = self.calls();
        assert_eq!(calls.len(), 1, "{why}: {calls:?}");
        let span = &calls[0];
        let durations = self.exported.points("mcp.client.operation.duration");
        let mut durations = durations
            .iter()
            .filter(|point| point.contains("tools/call"));
        let duration = durations.next().expect("a duration");
        assert_eq!(durations.next(), None, "{why}: once");
        assert!(duration.starts_with("1 "), "{why}: {duration}");
        let errors = self.exported.points("mcp.client.call.errors");
        let Some((kind, code)) = error else {
            assert!(span.contains(" Client unset "), "{why}: {span}");
            assert!(!duration.contains("error"), "{why}: {duration}");
            assert!(errors.is_empty(), "{why}: {errors:?}");
            return;
        };
        let (kind, code) = (
            format!(" error.type={kind} "),
            format!(" mcp.error.code={code} "),
        );
        assert!(span.contains(" Client error "), "{why}: {span}");
        assert!(
            span.contains(&kind) && span.contains(&code),
            "{why}: {span}"
        );
        assert!(duration.contains(&kind), "{why}: {duration}");
        let [errors] = &errors[..] else {
            panic!("{why}: {errors:?}");
        };
        let is_right = errors.starts_with("1 ") && errors.contains(&kind) && errors.contains(&code);
        assert!(is_right, "{why}: {errors}");
    }
}

/// A builder whose runtime is recorded.
fn watched(exported: &ExportedTelemetry) -> McpRuntimeBuilder {
    let telemetry = Telemetry::builder().meter(exported.meter()).build();
    builder().telemetry(&telemetry)
}

fn calls(exported: &ExportedTelemetry) -> Vec<String> {
    let mut spans = exported.span_lines();
    spans.retain(|span| span.starts_with("tools/call"));
    spans
}
