//! What is wrong with a plugin, as the session says it.

use std::path::PathBuf;

use mcp_runtime::{EnvironmentId, ErrorChain, Place, PluginError};
use serde::Serialize;

/// A broken plugin, or a server of one.
#[derive(Debug, Serialize)]
pub(crate) struct PluginReport {
    environment_id: EnvironmentId,
    file: PathBuf,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<usize>,
    /// The server that is left out; without it, the plugin is.
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<String>,
    message: String,
}

impl PluginReport {
    pub(crate) fn new(error: &PluginError) -> Self {
        Self {
            environment_id: error.environment().clone(),
            file: error.file().to_owned(),
            line: error.place().map(Place::line),
            column: error.place().map(Place::column),
            server: error.server().map(str::to_owned),
            message: ErrorChain(error).to_string(),
        }
    }
}
