//! [`McpServerKey`]: the only identity of a server (K2).

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{EnvironmentId, ServerName, wire};

/// Who owns a server.
///
/// A closed set: code that decides by owner matches both arms, and a third kind of owner would have
/// to be decided everywhere.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ServerScope {
    /// Configured by the host.
    Host,
    /// Owned by one environment, usually because it was discovered there.
    Environment(EnvironmentId),
}

/// The exact identity of a server: its owner and its name (K2).
///
/// Catalogs, connections, calls, resources, approvals and telemetry are keyed by this, never by a bare
/// name: `docs` of the host, of `devbox` and of `ci` are three servers.
///
/// The order is total: host-scoped keys first, then by environment, then by name. `Display` is for
/// people and is not an identity: it shows `docs`, or `docs (devbox)` for an environment's.
///
/// As serde it is exactly `{"server":"docs"}` or `{"server":"docs","environment_id":"devbox"}`. Unknown
/// or repeated members, an `environment_id` of `null` and a sequence are refused: one key has one
/// spelling. Formats that do not name members cannot carry it.
///
/// ```
/// use mcp_keys::{EnvironmentId, McpServerKey, ServerName};
///
/// let docs = ServerName::new("docs")?;
/// let host = McpServerKey::host(docs.clone());
/// let devbox = McpServerKey::in_environment(EnvironmentId::new("devbox")?, docs);
///
/// assert_ne!(host, devbox);
/// assert_eq!(devbox.to_string(), "docs (devbox)");
/// assert_eq!(serde_json::to_string(&devbox)?, r#"{"server":"docs","environment_id":"devbox"}"#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct McpServerKey {
    scope: ServerScope,
    name: ServerName,
}

impl McpServerKey {
    /// The host's server of that name.
    #[must_use]
    pub fn host(name: ServerName) -> Self {
        Self {
            scope: ServerScope::Host,
            name,
        }
    }

    /// The server of that name that `environment` owns.
    #[must_use]
    pub fn in_environment(environment: EnvironmentId, name: ServerName) -> Self {
        Self {
            scope: ServerScope::Environment(environment),
            name,
        }
    }

    /// What its owner calls it.
    #[must_use]
    pub fn name(&self) -> &ServerName {
        &self.name
    }

    /// Who owns it.
    #[must_use]
    pub fn scope(&self) -> &ServerScope {
        &self.scope
    }

    /// The environment that owns it; `None` for the host's.
    #[must_use]
    pub fn environment(&self) -> Option<&EnvironmentId> {
        match &self.scope {
            ServerScope::Host => None,
            ServerScope::Environment(id) => Some(id),
        }
    }
}

impl fmt::Display for McpServerKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.scope {
            ServerScope::Host => write!(f, "{}", self.name),
            ServerScope::Environment(id) => write!(f, "{} ({id})", self.name),
        }
    }
}

impl Serialize for McpServerKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        /// The wire form; separate, so that a change of the key is not a change of the contract.
        #[derive(Serialize)]
        #[serde(rename = "McpServerKey")]
        struct Wire<'a> {
            server: &'a ServerName,
            #[serde(skip_serializing_if = "Option::is_none")]
            environment_id: Option<&'a EnvironmentId>,
        }
        Wire {
            server: &self.name,
            environment_id: self.environment(),
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for McpServerKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(rename = "McpServerKey", deny_unknown_fields)]
        struct Wire {
            server: ServerName,
            #[serde(default, deserialize_with = "wire::present")]
            environment_id: Option<EnvironmentId>,
        }
        let wire: Wire = wire::from_members(deserializer)?;
        Ok(Self::from_parts(wire.server, wire.environment_id))
    }
}

impl McpServerKey {
    pub(crate) fn from_parts(server: ServerName, environment_id: Option<EnvironmentId>) -> Self {
        match environment_id {
            Some(id) => Self::in_environment(id, server),
            None => Self::host(server),
        }
    }
}
