//! Metrics and spans of what becomes of requests, startups and sessions (T4, T5).
//!
//! Everything here goes through OpenTelemetry's API and `tracing`: which SDK, exporter and subscriber there are, if any,
//! is the host's choice. Nothing of arguments, results, headers, tokens or environment values is recorded (T6).

mod allowance;
mod attribute;
mod instruments;
mod labels;
mod operation;
mod profile;
mod series;
mod server;
mod session;
mod span;
mod startup;
mod telemetry;
mod trace_context;

pub use labels::ServerLabels;
pub use operation::{OperationRecording, RequestFailure};
pub use profile::TelemetryProfile;
pub use server::{ListingJoin, ServerRecorder};
pub use session::SessionRecording;
pub use startup::{ListingOrigin, StartupRecording};
pub use telemetry::{Telemetry, TelemetryBuilder};
pub use trace_context::TraceContext;
