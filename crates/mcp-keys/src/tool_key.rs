//! [`ToolKey`]: the exact identity of a tool (K3).

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{EnvironmentId, McpServerKey, ServerName, ToolName, wire};

/// The exact identity of a tool: its server and what that server calls it (K3).
///
/// The order is total: by server, then by tool. `Display` is for people and is not an identity: it
/// shows `docs/search`, or `docs (devbox)/search` for an environment's.
///
/// As serde it is flat, exactly `{"server":"docs","environment_id":"devbox","tool":"search"}`, without
/// `environment_id` for the host's. Unknown or repeated members, and `null`, are refused.
///
/// ```
/// use mcp_keys::{McpServerKey, ServerName, ToolKey, ToolName};
///
/// let server = McpServerKey::host(ServerName::new("docs")?);
/// let key = ToolKey::new(server, ToolName::new("search")?);
/// assert_eq!(serde_json::to_string(&key)?, r#"{"server":"docs","tool":"search"}"#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ToolKey {
    server: McpServerKey,
    tool: ToolName,
}

impl ToolKey {
    /// The tool that `server` calls `tool`.
    #[must_use]
    pub fn new(server: McpServerKey, tool: ToolName) -> Self {
        Self { server, tool }
    }

    /// The server that offers it.
    #[must_use]
    pub fn server(&self) -> &McpServerKey {
        &self.server
    }

    /// What its server calls it.
    #[must_use]
    pub fn tool(&self) -> &ToolName {
        &self.tool
    }

    pub(crate) fn into_parts(self) -> (McpServerKey, ToolName) {
        (self.server, self.tool)
    }
}

impl fmt::Display for ToolKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.server, self.tool)
    }
}

impl Serialize for ToolKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        /// The wire form; separate, so that a change of the key is not a change of the contract.
        #[derive(Serialize)]
        #[serde(rename = "ToolKey")]
        struct Wire<'a> {
            server: &'a ServerName,
            #[serde(skip_serializing_if = "Option::is_none")]
            environment_id: Option<&'a EnvironmentId>,
            tool: &'a ToolName,
        }
        Wire {
            server: self.server.name(),
            environment_id: self.server.environment(),
            tool: &self.tool,
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ToolKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(rename = "ToolKey", deny_unknown_fields)]
        struct Wire {
            server: ServerName,
            #[serde(default, deserialize_with = "wire::present")]
            environment_id: Option<EnvironmentId>,
            tool: ToolName,
        }
        let wire: Wire = wire::from_members(deserializer)?;
        let server = McpServerKey::from_parts(wire.server, wire.environment_id);
        Ok(Self::new(server, wire.tool))
    }
}
