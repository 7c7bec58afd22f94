//! The instruments, made once (T5).

use opentelemetry::metrics::{Counter, Histogram, Meter};

use super::TelemetryProfile;

/// What OpenTelemetry's conventions for MCP propose, in seconds.
const SECONDS: [f64; 14] = [
    0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0,
];

#[derive(Debug)]
pub(super) struct Instruments {
    pub(super) operation: Histogram<f64>,
    pub(super) session: Histogram<f64>,
    pub(super) startup: Histogram<f64>,
    pub(super) call_errors: Counter<u64>,
    pub(super) listing_joins: Counter<u64>,
    pub(super) codex: Option<CodexInstruments>,
}

/// Of calls, under the names of the profile `codex`.
#[derive(Debug)]
pub(super) struct CodexInstruments {
    pub(super) calls: Counter<u64>,
    pub(super) milliseconds: Histogram<f64>,
    pub(super) errors: Counter<u64>,
}

impl Instruments {
    pub(super) fn new(meter: &Meter, profile: TelemetryProfile) -> Self {
        let seconds = |name, description| {
            let histogram = meter.f64_histogram(name).with_unit("s");
            let histogram = histogram.with_description(description);
            histogram.with_boundaries(SECONDS.to_vec()).build()
        };
        let counter = |name, unit, description| {
            let counter = meter.u64_counter(name).with_unit(unit);
            counter.with_description(description).build()
        };
        Self {
            operation: seconds(
                "mcp.client.operation.duration",
                "How long requests took, from the caller's point of view.",
            ),
            session: seconds(
                "mcp.client.session.duration",
                "How long connections lasted, from the handshake to their end.",
            ),
            startup: seconds(
                "mcp.client.startup.duration",
                "How long servers took to start, or to fail to.",
            ),
            call_errors: counter(
                "mcp.client.call.errors",
                "{error}",
                "Tool calls that failed, by the reason.",
            ),
            listing_joins: counter(
                "mcp.client.listing.joins",
                "{join}",
                "How startups came by their listing of tools.",
            ),
            codex: (profile == TelemetryProfile::Codex).then(|| CodexInstruments::new(meter)),
        }
    }
}

impl CodexInstruments {
    fn new(meter: &Meter) -> Self {
        let boundaries = SECONDS.map(|seconds| seconds * 1000.0).to_vec();
        let milliseconds = meter.f64_histogram("codex.mcp.call.duration_ms");
        let milliseconds = milliseconds.with_unit("ms").with_boundaries(boundaries);
        Self {
            calls: meter.u64_counter("codex.mcp.call").build(),
            milliseconds: milliseconds.build(),
            errors: meter.u64_counter("codex.mcp.call.error").build(),
        }
    }
}
