//! Classifies every failure of an MCP request or tool by type into a bounded code.
//!
//! A metric can only count failures by an attribute with few values, but what fails is a tower of wrapped errors, and
//! by the time it is reported it is usually a string. This crate looks at the types in the tower while they are
//! still there ([`classify`], [`Classifier`]), and at what a tool's result says about its own failure ([`ToolReport`]).
//!
//! ```
//! use mcp_telemetry::{ErrorCode, ToolReport, classify};
//! use serde_json::value::RawValue;
//!
//! // A request that failed: the type decides, however deep it is.
//! let failure = std::sync::Arc::new(rmcp::ServiceError::TransportClosed);
//! let wrapped = std::io::Error::other(failure);
//! assert_eq!(classify(&wrapped), ErrorCode::TransportClosed);
//!
//! // A tool that failed: its result decides.
//! let result: &RawValue =
//!     serde_json::from_str(r#"{"isError":true,"structuredContent":{"error_code":"RATE_LIMITED"}}"#)?;
//! let report = ToolReport::read(result);
//! assert_eq!(report.error_code().map(|code| code.as_str()), Some("RATE_LIMITED"));
//! # Ok::<(), serde_json::Error>(())
//! ```
//!
//! # What this crate does not do
//!
//! It decides nothing by the text of an error, changes no result, and knows no error of the crates around it: those
//! register themselves ([`Classified`]). It records spans and metrics only with the feature `record` (`Telemetry`), and
//! exports none.

mod classifier;
mod error_code;
mod http;
mod members;
mod outcome;
mod reading;
#[cfg(feature = "record")]
mod record;
mod rmcp_errors;
mod tool_error_code;
mod tool_report;

pub use classifier::{Classified, Classifier, classify};
pub use error_code::{ErrorCode, UnknownErrorCode};
pub use outcome::FailureOutcome;
#[cfg(feature = "record")]
pub use record::{
    ListingJoin, ListingOrigin, OperationRecording, RequestFailure, ServerLabels, ServerRecorder,
    SessionRecording, StartupRecording, Telemetry, TelemetryBuilder, TelemetryProfile,
    TraceContext,
};
pub use tool_error_code::ToolErrorCode;
pub use tool_report::ToolReport;

/// Compiles the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
