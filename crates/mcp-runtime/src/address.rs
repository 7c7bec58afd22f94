//! Which server a host asks.

use mcp_keys::{EnvironmentId, McpServerKey};

/// A server as a caller names it: by name, by name and environment, or by its key.
///
/// Names are resolved when they are used (K7). A key always leads to the server that has it.
///
/// ```
/// use mcp_runtime::{McpServerKey, ServerAddress};
///
/// let key: McpServerKey = serde_json::from_str(r#"{"server":"docs","environment_id":"devbox"}"#)?;
/// assert_eq!(ServerAddress::from(&key), ServerAddress::from(("docs", Some("devbox"))));
/// assert_eq!(ServerAddress::from("docs"), ServerAddress::from(("docs", None)));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServerAddress<'a> {
    server: &'a str,
    environment_id: Option<&'a str>,
}

impl<'a> ServerAddress<'a> {
    pub(crate) fn server(self) -> &'a str {
        self.server
    }

    pub(crate) fn environment_id(self) -> Option<&'a str> {
        self.environment_id
    }
}

impl<'a> From<&'a str> for ServerAddress<'a> {
    fn from(server: &'a str) -> Self {
        (server, None).into()
    }
}

impl<'a> From<(&'a str, Option<&'a str>)> for ServerAddress<'a> {
    fn from((server, environment_id): (&'a str, Option<&'a str>)) -> Self {
        Self {
            server,
            environment_id,
        }
    }
}

impl<'a> From<&'a McpServerKey> for ServerAddress<'a> {
    fn from(key: &'a McpServerKey) -> Self {
        // By K7 the host's server wins under its bare name, and an `environment_id` picks exactly that environment's: so
        // the two names of a key mean that key.
        let environment_id = key.environment().map(EnvironmentId::as_str);
        (key.name().as_str(), environment_id).into()
    }
}
