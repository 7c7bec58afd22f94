//! A server as `--json` and the session say it.

use mcp_runtime::{EnvironmentId, ServerState, ServerStatus};
use serde::Serialize;

use super::{ErrorReport, millis};

/// One server.
#[derive(Debug, Serialize)]
pub(crate) struct ServerReport {
    server: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    environment_id: Option<EnvironmentId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    plugin: Option<String>,
    status: &'static str,
    tools: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    era: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    listing: Option<&'static str>,
    elapsed_ms: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ErrorReport>,
}

impl ServerReport {
    pub(crate) fn new(status: &ServerStatus) -> Self {
        let key = status.key();
        let mut report = Self::failed(key.name().as_str(), key.environment());
        report.plugin = status.plugin().map(str::to_owned);
        match status.state() {
            ServerState::Ready {
                tools,
                era,
                elapsed,
                shared,
            } => {
                report.status = "ready";
                report.tools = *tools;
                report.era = Some(era.as_str());
                report.listing = Some(if *shared { "shared" } else { "fetched" });
                report.elapsed_ms = millis(*elapsed);
            }
            ServerState::Failed { error, elapsed } => {
                report.elapsed_ms = millis(*elapsed);
                report.error = Some(ErrorReport::of_startup(error));
            }
            ServerState::Disconnected(outage) => {
                report.error = Some(ErrorReport::of_outage(outage));
            }
            ServerState::Cancelled => report.error = Some(ErrorReport::cancelled()),
            ServerState::Hidden { reason } => {
                report.status = "hidden";
                report.reason = Some(reason.to_string());
            }
            ServerState::Disabled => report.status = "disabled",
            ServerState::Starting => report.status = "starting",
            _ => report.status = "unknown",
        }
        report
    }

    /// An entry of a configuration that is no server.
    pub(crate) fn rejected(
        server: &str,
        environment: Option<&EnvironmentId>,
        why: impl Into<String>,
    ) -> Self {
        let error = Some(ErrorReport::invalid(why));
        Self {
            error,
            ..Self::failed(server, environment)
        }
    }

    fn failed(server: &str, environment: Option<&EnvironmentId>) -> Self {
        Self {
            server: server.to_owned(),
            environment_id: environment.cloned(),
            plugin: None,
            status: "failed",
            tools: 0,
            era: None,
            listing: None,
            elapsed_ms: 0,
            reason: None,
            error: None,
        }
    }
}
