//! The handle that a host sets up.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use opentelemetry::metrics::Meter;

use super::allowance::Allowance;
use super::instruments::Instruments;
use super::labels::ServerLabels;
use super::operation::OperationRecording;
use super::server::ServerRecorder;
use super::{TelemetryProfile, TraceContext};

/// The name of the meter.
const METER: &str = "mcp-runtime";

/// Records what becomes of requests to MCP servers, of their startups and sessions. Cloning is cheap, and every clone is
/// the same.
///
/// Metrics go to OpenTelemetry's meter, by default to that of the global provider *as it is when this is made*: a host
/// installs its provider first. Spans go to `tracing`. Where neither has anybody who listens, next to nothing is done.
///
/// ```
/// use mcp_telemetry::{ErrorCode, ServerLabels, Telemetry, TelemetryProfile};
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
/// # let _guard = runtime.enter();
/// let telemetry = Telemetry::builder().profile(TelemetryProfile::Codex).build();
/// let server = telemetry.server(ServerLabels::stdio("docs"));
/// let call = server.call("search", tokio::time::Instant::now());
/// call.failed(ErrorCode::RequestTimeout);
/// ```
#[derive(Clone)]
pub struct Telemetry(Option<Arc<Inner>>);

/// Settings of a [`Telemetry`].
#[derive(Debug, Default)]
#[must_use]
pub struct TelemetryBuilder {
    meter: Option<Meter>,
    profile: TelemetryProfile,
    sends_baggage: bool,
}

struct Inner {
    recorder: Arc<Recorder>,
    sends_baggage: bool,
    /// A server that comes again has used up what it used up before.
    servers: Mutex<HashMap<ServerLabels, ServerRecorder>>,
}

/// What all servers have in common.
pub(super) struct Recorder {
    pub(super) instruments: Instruments,
    pub(super) profile: TelemetryProfile,
    pub(super) codes: Allowance,
    pub(super) tools: Allowance,
}

impl Telemetry {
    /// Settings, to be changed before use.
    pub fn builder() -> TelemetryBuilder {
        TelemetryBuilder::default()
    }

    /// Records nothing, and sends no trace context.
    #[must_use]
    pub const fn off() -> Self {
        Self(None)
    }

    /// What is recorded of a server. The same labels lead to the same recorder.
    #[must_use]
    pub fn server(&self, labels: ServerLabels) -> ServerRecorder {
        let Some(inner) = &self.0 else {
            return ServerRecorder::off();
        };
        let new =
            |labels: &ServerLabels| ServerRecorder::new(inner.recorder.clone(), labels.clone());
        let mut servers = inner.servers.lock().unwrap_or_else(PoisonError::into_inner);
        servers.entry(labels).or_insert_with_key(new).clone()
    }

    /// A call of which not even the server is known. What the caller wrote instead is not recorded.
    pub fn call_of_unknown_server(&self) -> OperationRecording {
        self.server(ServerLabels::none()).call_of_unknown_tool()
    }

    /// What a request says of the trace it belongs to: that of the span which is current when it is sent.
    #[must_use]
    pub fn trace_context(&self) -> Option<TraceContext> {
        TraceContext::current(self.0.as_ref()?.sends_baggage)
    }
}

impl TelemetryBuilder {
    /// Where metrics go.
    pub fn meter(mut self, meter: Meter) -> Self {
        self.meter = Some(meter);
        self
    }

    /// Under which names calls are recorded.
    pub fn profile(mut self, profile: TelemetryProfile) -> Self {
        self.profile = profile;
        self
    }

    /// Also sends the baggage of the current context to every server. It is not by default: what a host put there for its
    /// own services is not for the authors of servers.
    pub fn send_baggage(mut self, sends: bool) -> Self {
        self.sends_baggage = sends;
        self
    }

    /// Makes the instruments.
    #[must_use]
    pub fn build(self) -> Telemetry {
        let meter = self
            .meter
            .unwrap_or_else(|| opentelemetry::global::meter(METER));
        let recorder = Recorder {
            instruments: Instruments::new(&meter, self.profile),
            profile: self.profile,
            codes: Allowance::codes(),
            tools: Allowance::tools(),
        };
        Telemetry(Some(Arc::new(Inner {
            recorder: Arc::new(recorder),
            sends_baggage: self.sends_baggage,
            servers: Mutex::default(),
        })))
    }
}

/// Of the global provider.
impl Default for Telemetry {
    fn default() -> Self {
        Self::builder().build()
    }
}

impl fmt::Debug for Telemetry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let profile = self.0.as_ref().map(|inner| inner.recorder.profile);
        f.debug_tuple("Telemetry").field(&profile).finish()
    }
}
