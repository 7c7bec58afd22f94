//! [`ResolveError`]: why a name means no server, and what to write instead (K7).

use std::fmt;

use crate::{EnvironmentId, McpServerKey, ServerName};

/// Why a server name and an optional `environment_id` mean no server (K7).
///
/// The message is for whoever made the call, a model included, and says what to write instead, as in
/// ``server `docs`: several environments are selected; write `environment_id` one of `devbox`, `ci` ``.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolveError {
    server: ServerName,
    kind: ResolveErrorKind,
    candidates: Vec<McpServerKey>,
}

/// The cases of [`ResolveError`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ResolveErrorKind {
    /// No server of that name is known.
    #[error("no such server")]
    UnknownServer,
    /// The environment named is selected, but has no server of that name.
    #[error("not in environment `{0}`")]
    NotInEnvironment(EnvironmentId),
    /// No environment of that id is known.
    #[error("no such environment as `{0}`")]
    UnknownEnvironment(EnvironmentId),
    /// The environment named is not selected; or none was named, and this is the first of those that have
    /// the server, none of which is selected.
    #[error("environment `{0}` is not selected")]
    EnvironmentNotSelected(EnvironmentId),
    /// The host's server was addressed with an `environment_id`.
    #[error("it is the host's and in no environment")]
    HostScoped,
    /// An environment has it, several are selected, and none was named.
    #[error("several environments are selected")]
    EnvironmentRequired,
}

/// How many candidates a message lists; the rest are counted.
const MAX_LISTED: usize = 16;

impl ResolveError {
    pub(crate) fn new(
        server: &ServerName,
        kind: ResolveErrorKind,
        candidates: Vec<McpServerKey>,
    ) -> Self {
        Self {
            server: server.clone(),
            kind,
            candidates,
        }
    }

    /// Which case it is.
    #[must_use]
    pub fn kind(&self) -> &ResolveErrorKind {
        &self.kind
    }

    /// The server name asked for.
    #[must_use]
    pub fn server(&self) -> &ServerName {
        &self.server
    }

    /// The keys that can be named instead under the same selection: those with the same server name or,
    /// if there are none, all. The host's come first, then the order is that of selection.
    #[must_use]
    pub fn candidates(&self) -> &[McpServerKey] {
        &self.candidates
    }
}

impl fmt::Display for ResolveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "server `{}`: {}; ", self.server, self.kind)?;
        let namesakes = || {
            self.candidates
                .iter()
                .filter(|key| *key.name() == self.server)
        };
        let environments: Vec<&str> = namesakes()
            .filter_map(|key| key.environment())
            .map(EnvironmentId::as_str)
            .collect();
        let hosts = namesakes().any(|key| key.environment().is_none());
        if !environments.is_empty() {
            f.write_str("write `environment_id` one of ")?;
            list(f, &environments)?;
            f.write_str(if hosts {
                ", or leave it out for the host's"
            } else {
                ""
            })
        } else if hosts {
            f.write_str("leave `environment_id` out")
        } else if let ResolveErrorKind::EnvironmentNotSelected(id) = &self.kind {
            write!(f, "no selected one has that server: select `{id}`")
        } else if self.candidates.is_empty() {
            f.write_str("no server can be named here")
        } else {
            let mut names: Vec<&str> = self
                .candidates
                .iter()
                .map(|key| key.name().as_str())
                .collect();
            names.sort_unstable();
            names.dedup();
            f.write_str("name one of the servers ")?;
            list(f, &names)
        }
    }
}

impl std::error::Error for ResolveError {}

fn list(f: &mut fmt::Formatter<'_>, names: &[&str]) -> fmt::Result {
    for (at, name) in names.iter().take(MAX_LISTED).enumerate() {
        let comma = if at == 0 { "" } else { ", " };
        write!(f, "{comma}`{name}`")?;
    }
    match names.len().saturating_sub(MAX_LISTED) {
        0 => Ok(()),
        more => write!(f, " and {more} more"),
    }
}
