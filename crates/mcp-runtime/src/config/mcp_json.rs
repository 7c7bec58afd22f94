//! The `mcpServers` JSON that hosts share.
//!
//! ```json
//! {"mcpServers": {"docs": {"command": "docs-server", "args": ["--stdio"]},
//!                 "search": {"url": "https://example.com/mcp"}}}
//! ```
//!
//! The object under `servers`, as VS Code writes it, is read as well. Each entry stands alone: one that is wrong is
//! reported and costs nobody else anything.

use std::collections::HashSet;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::entry::Entry;
use super::members::Members;
use super::{ConfigError, ConfigErrorKind, ServerConfig};

/// The servers of one configuration: those that can be used, and those that cannot, with the reason.
///
/// ```
/// use mcp_runtime::McpServers;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let read = McpServers::from_json(r#"{"mcpServers": {
///     "docs": {"command": "docs-server"},
///     "odd": {"command": "x", "url": "https://example.com"}
/// }}"#)?;
/// assert_eq!(read.servers().len(), 1);
/// assert_eq!(read.rejected()[0].server(), Some("odd"));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Default)]
pub struct McpServers {
    servers: Vec<ServerConfig>,
    rejected: Vec<ConfigError>,
    unknown: Vec<String>,
}

impl McpServers {
    /// Reads a whole configuration file.
    ///
    /// # Errors
    ///
    /// Text that is not a JSON object with `mcpServers` or `servers`. A wrong entry is no error: see
    /// [`rejected`](Self::rejected).
    pub fn from_json(text: &str) -> Result<Self, ConfigError> {
        #[derive(Deserialize)]
        struct File<'a> {
            #[serde(borrow, default, rename = "mcpServers")]
            mcp_servers: Option<&'a RawValue>,
            #[serde(borrow, default)]
            servers: Option<&'a RawValue>,
        }
        // Editors on Windows write a byte order mark.
        let text = text.trim_start_matches('\u{feff}');
        let file: File<'_> = serde_json::from_str(text)
            .map_err(|error| ConfigError::of_whole(error, ConfigErrorKind::NoServers))?;
        let Some(servers) = file.mcp_servers.or(file.servers) else {
            return Err(ConfigError::no_servers());
        };
        Self::from_entries(servers.get())
    }

    /// Reads the object of entries itself, as it stands under `mcpServers`.
    ///
    /// # Errors
    ///
    /// Text that is not a JSON object.
    pub fn from_entries(text: &str) -> Result<Self, ConfigError> {
        let Members(entries) = serde_json::from_str(text)
            .map_err(|error| ConfigError::of_whole(error, ConfigErrorKind::Servers))?;
        let mut read = Self::default();
        let mut seen = HashSet::new();
        for (name, entry) in entries {
            if !seen.insert(name.clone()) {
                let kind = ConfigErrorKind::Duplicate;
                read.rejected.push(ConfigError::of_entry(name, kind));
                continue;
            }
            match Entry::read(&name, entry) {
                Ok((server, unknown)) => {
                    read.unknown
                        .extend(unknown.into_iter().map(|member| format!("{name}.{member}")));
                    read.servers.push(server);
                }
                Err(kind) => read.rejected.push(ConfigError::of_entry(name, kind)),
            }
        }
        Ok(read)
    }

    /// The servers that can be started, by name.
    #[must_use]
    pub fn servers(&self) -> &[ServerConfig] {
        &self.servers
    }

    /// The servers that can be started.
    #[must_use]
    pub fn into_servers(self) -> Vec<ServerConfig> {
        self.servers
    }

    /// The entries that are wrong.
    #[must_use]
    pub fn rejected(&self) -> &[ConfigError] {
        &self.rejected
    }

    /// Members that nobody here knows, as `server.member`: other hosts' settings, or a slip of the pen.
    #[must_use]
    pub fn unknown_members(&self) -> &[String] {
        &self.unknown
    }
}

#[cfg(test)]
mod tests;
