//! [`Exposure`]: which servers a step sees, under which keys, and what is hidden from it (K8).

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{McpServerKey, SelectedEnvironments};

/// The feature `multi_environment_mcp`, off by default (K8). As serde it is a bool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(from = "bool", into = "bool")]
pub enum MultiEnvironment {
    /// Only the primary environment's servers are exposed, as if they were the host's.
    #[default]
    Off,
    /// The servers of every selected environment are exposed, under their own keys.
    On,
}

impl MultiEnvironment {
    /// What the feature is called in configuration.
    pub const SETTING: &'static str = "multi_environment_mcp";
}

impl From<bool> for MultiEnvironment {
    fn from(on: bool) -> Self {
        if on { Self::On } else { Self::Off }
    }
}

impl From<MultiEnvironment> for bool {
    fn from(feature: MultiEnvironment) -> Self {
        feature == MultiEnvironment::On
    }
}

/// Which of the known servers a step sees, under which keys, and which are hidden and why (K8).
///
/// - Host-scoped servers are always exposed, under their own keys.
/// - With the feature off, the primary environment's servers are exposed under host-scoped keys. Where a
///   host's server has the same name, the host's wins. Every other server is hidden.
/// - With the feature on, the servers of all selected environments are exposed under their own keys.
/// - The servers of environments that are not selected are hidden either way: no call could reach them
///   (K7).
///
/// No known server is lost: each is exposed once or hidden once.
///
/// ```
/// use mcp_keys::{EnvironmentId, Exposure, HiddenReason, McpServerKey, MultiEnvironment};
/// use mcp_keys::{SelectedEnvironments, ServerName};
///
/// let docs = ServerName::new("docs")?;
/// let devbox = EnvironmentId::new("devbox")?;
/// let ci = EnvironmentId::new("ci")?;
/// let in_devbox = McpServerKey::in_environment(devbox.clone(), docs.clone());
/// let in_ci = McpServerKey::in_environment(ci.clone(), docs.clone());
///
/// let exposure = Exposure::new(
///     MultiEnvironment::Off,
///     [in_devbox.clone(), in_ci.clone()],
///     &SelectedEnvironments::new([devbox, ci])?,
/// );
/// assert_eq!(exposure.origin(&McpServerKey::host(docs)), Some(&in_devbox));
/// assert_eq!(exposure.hidden()[0].key(), &in_ci);
/// assert_eq!(exposure.hidden()[0].reason(), HiddenReason::NotPrimary);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exposure {
    /// The original key by the key exposed.
    exposed: BTreeMap<McpServerKey, McpServerKey>,
    hidden: Vec<HiddenServer>,
}

/// A server that a step does not see.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct HiddenServer {
    key: McpServerKey,
    reason: HiddenReason,
}

impl HiddenServer {
    /// The server's own key.
    #[must_use]
    pub fn key(&self) -> &McpServerKey {
        &self.key
    }

    /// Why it is hidden.
    #[must_use]
    pub fn reason(&self) -> HiddenReason {
        self.reason
    }
}

/// Why a server is hidden. `Display` says what would expose it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum HiddenReason {
    /// The feature is off, and the host has a server of the same name.
    ShadowedByHost,
    /// The feature is off, and its environment is selected but not the primary one.
    NotPrimary,
    /// Its environment is not selected.
    NotSelected,
}

impl fmt::Display for HiddenReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ShadowedByHost => {
                "the host has a server of the same name: rename one or switch `multi_environment_mcp` on"
            }
            Self::NotPrimary => {
                "its environment is not the primary one: select it first or switch `multi_environment_mcp` on"
            }
            Self::NotSelected => "its environment is not selected: select it",
        })
    }
}

impl Exposure {
    /// Decides for every server in `known`, whatever their order. A key given twice is the same server.
    #[must_use]
    pub fn new(
        feature: MultiEnvironment,
        known: impl IntoIterator<Item = McpServerKey>,
        selected: &SelectedEnvironments,
    ) -> Self {
        let mut known: Vec<McpServerKey> = known.into_iter().collect();
        // Host-scoped keys sort first, so the host's names are taken before an environment asks for them.
        known.sort_unstable();
        known.dedup();
        let mut exposed = BTreeMap::new();
        let mut hidden = Vec::new();
        for key in known {
            match shown_as(&key, feature, selected, &exposed) {
                Ok(shown) => {
                    exposed.insert(shown, key);
                }
                Err(reason) => hidden.push(HiddenServer { key, reason }),
            }
        }
        Self { exposed, hidden }
    }

    /// Each key a step sees, with the server's own key, sorted by the first.
    #[must_use]
    pub fn exposed(&self) -> impl ExactSizeIterator<Item = (&McpServerKey, &McpServerKey)> {
        self.exposed.iter()
    }

    /// The server's own key behind a key that a step sees; `None` if no step sees that key.
    #[must_use]
    pub fn origin(&self, exposed: &McpServerKey) -> Option<&McpServerKey> {
        self.exposed.get(exposed)
    }

    /// The servers a step does not see, sorted by key. Tell the user.
    #[must_use]
    pub fn hidden(&self) -> &[HiddenServer] {
        &self.hidden
    }
}

/// Under which key `key` is shown, if `taken` are shown already; or why it is not.
fn shown_as(
    key: &McpServerKey,
    feature: MultiEnvironment,
    selected: &SelectedEnvironments,
    taken: &BTreeMap<McpServerKey, McpServerKey>,
) -> Result<McpServerKey, HiddenReason> {
    let Some(environment) = key.environment() else {
        return Ok(key.clone());
    };
    if !selected.contains(environment) {
        return Err(HiddenReason::NotSelected);
    }
    if feature == MultiEnvironment::On {
        return Ok(key.clone());
    }
    if environment != selected.primary() {
        return Err(HiddenReason::NotPrimary);
    }
    let as_host = McpServerKey::host(key.name().clone());
    if taken.contains_key(&as_host) {
        return Err(HiddenReason::ShadowedByHost);
    }
    Ok(as_host)
}
