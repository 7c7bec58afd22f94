//! What a server's name can mean.

use std::sync::Arc;

use mcp_keys::{
    EnvironmentId, McpServerKey, ResolveError, SelectedEnvironments, ServerName, resolve,
};

/// The servers and environments among which names are resolved (K7). Cloning is cheap enough for every capture.
#[derive(Debug, Clone)]
pub(crate) struct Scope {
    pub(crate) known: Arc<[McpServerKey]>,
    pub(crate) selected: SelectedEnvironments,
}

impl Scope {
    /// The server that is meant.
    pub(crate) fn resolve(
        &self,
        server: &ServerName,
        environment: Option<&EnvironmentId>,
    ) -> Result<McpServerKey, ResolveError> {
        resolve(&*self.known, &self.selected, server, environment)
    }
}
