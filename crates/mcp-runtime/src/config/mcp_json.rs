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
use super::{ConfigError, ConfigErrorKind, Place, ServerConfig};

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
        let json = text.trim_start_matches('\u{feff}');
        let whole: &RawValue = serde_json::from_str(json).map_err(ConfigError::syntax)?;
        let file: File<'_> = serde_json::from_str(whole.get())
            .map_err(|_shown| ConfigError::shape(Place::BEGINNING, ConfigErrorKind::NoServers))?;
        let Some(servers) = file.mcp_servers.or(file.servers) else {
            return Err(ConfigError::shape(
                Place::BEGINNING,
                ConfigErrorKind::NoServers,
            ));
        };
        Self::from_part(text, servers)
    }

    /// Reads the object of entries itself, as it stands under `mcpServers`.
    ///
    /// # Errors
    ///
    /// Text that is not a JSON object.
    pub fn from_entries(text: &str) -> Result<Self, ConfigError> {
        let entries = serde_json::from_str(text).map_err(ConfigError::syntax)?;
        Self::from_part(text, entries)
    }

    /// Reads the object of entries where it is a part of a larger text that it was borrowed from: the places of mistakes are
    /// those in that text.
    ///
    /// # Errors
    ///
    /// As [`from_entries`](Self::from_entries).
    pub fn from_part(text: &str, entries: &RawValue) -> Result<Self, ConfigError> {
        let Members(entries) = serde_json::from_str(entries.get()).map_err(|_shown| {
            let place = Place::of_part(entries, text).unwrap_or(Place::BEGINNING);
            ConfigError::shape(place, ConfigErrorKind::Servers)
        })?;
        let mut read = Self::default();
        let mut seen = HashSet::new();
        for (name, entry) in entries {
            let server = if seen.insert(name.clone()) {
                Entry::read(&name, entry)
            } else {
                Err(ConfigErrorKind::Duplicate)
            };
            match server {
                Ok((server, unknown)) => {
                    read.unknown
                        .extend(unknown.into_iter().map(|member| format!("{name}.{member}")));
                    read.servers.push(server);
                }
                Err(kind) => {
                    let error = ConfigError::of_entry(name, entry, text, kind);
                    read.rejected.push(error);
                }
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

    /// The servers that can be started, and what is wrong with the others.
    #[must_use]
    pub fn into_parts(self) -> (Vec<ServerConfig>, Vec<ConfigError>) {
        (self.servers, self.rejected)
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
