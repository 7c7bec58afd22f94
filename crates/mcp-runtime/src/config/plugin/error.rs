//! What can be wrong with an installed plugin.

use std::io;
use std::path::{Path, PathBuf};

use mcp_keys::{EnvironmentId, InvalidName, ServerName};

use crate::config::{ConfigError, Place};

/// What is wrong with a plugin of an environment, and where (K9). It costs that plugin, or that server of it, and nobody
/// else anything.
#[derive(Debug, thiserror::Error)]
#[error("a plugin of environment `{environment}`: {}{}", .file.display(), .place.map(|place| place.to_string()).unwrap_or_default())]
pub struct PluginError {
    environment: EnvironmentId,
    file: PathBuf,
    place: Option<Place>,
    #[source]
    kind: PluginErrorKind,
}

/// The cases of [`PluginError`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PluginErrorKind {
    /// The root of the plugin is no directory that can be read.
    #[error("the root of the plugin cannot be read")]
    Root(#[source] io::Error),
    /// There is nothing that says which servers the plugin has.
    #[error("there is no `.codex-plugin/plugin.json`, `.claude-plugin/plugin.json` or `.mcp.json`")]
    NoManifest,
    /// A file of the plugin is not in its root, or leads out of it.
    #[error("the file is not inside of the plugin's root")]
    Outside,
    /// A file of the plugin is something else, or is not there.
    #[error("the file cannot be read")]
    Unreadable(#[source] io::Error),
    /// A file of the plugin is too large.
    #[error("the file is larger than {limit} bytes")]
    TooLarge {
        /// The most bytes that are read.
        limit: u64,
    },
    /// A file, or the path of the root, is not UTF-8.
    #[error("it is not UTF-8")]
    NotUtf8,
    /// A manifest is not JSON.
    #[error("invalid JSON")]
    Json(#[source] serde_json::Error),
    /// A member of a manifest is not what it has to be.
    #[error("`{member}` must be {expected}")]
    Member {
        /// The member.
        member: &'static str,
        /// What was expected.
        expected: &'static str,
    },
    /// The plugin's servers are not configured correctly; or one of them, which costs that one.
    #[error(transparent)]
    Config(Box<ConfigError>),
    /// The server of a further installation cannot be named after it.
    #[error("server `{server}` cannot be named after its installation")]
    Installation {
        /// The server.
        server: ServerName,
        /// What is wrong with the name.
        source: InvalidName,
    },
    /// A server before it has the name: of the environment's own configuration, or of a plugin whose root is named earlier.
    #[error(
        "server `{server}` is left out: another one of this environment has the name. Configured servers come first, then \
         plugins in the order of their roots"
    )]
    NameTaken {
        /// The name.
        server: ServerName,
    },
}

impl PluginError {
    pub(super) fn new(environment: &EnvironmentId, broken: Broken) -> Self {
        let Broken { file, place, kind } = broken;
        Self {
            environment: environment.clone(),
            file,
            place,
            kind,
        }
    }

    /// The environment that the plugin is installed in.
    #[must_use]
    pub fn environment(&self) -> &EnvironmentId {
        &self.environment
    }

    /// The file that is wrong, or the root of the plugin.
    #[must_use]
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Where in the file.
    #[must_use]
    pub fn place(&self) -> Option<Place> {
        self.place
    }

    /// The server that is left out; `None` when the whole plugin is.
    #[must_use]
    pub fn server(&self) -> Option<&str> {
        match &self.kind {
            PluginErrorKind::Config(error) => error.server(),
            PluginErrorKind::Installation { server, .. }
            | PluginErrorKind::NameTaken { server } => Some(server.as_str()),
            _ => None,
        }
    }

    /// The reason.
    #[must_use]
    pub fn kind(&self) -> &PluginErrorKind {
        &self.kind
    }
}

/// What is wrong with a plugin, whoever has installed it.
#[derive(Debug)]
pub(super) struct Broken {
    file: PathBuf,
    place: Option<Place>,
    kind: PluginErrorKind,
}

impl Broken {
    pub(super) fn new(file: impl Into<PathBuf>, kind: PluginErrorKind) -> Self {
        Self {
            file: file.into(),
            place: None,
            kind,
        }
    }

    pub(super) fn at(self, place: Option<Place>) -> Self {
        Self { place, ..self }
    }

    /// A file outside of the plugin is wrong where it is named.
    pub(super) fn named_in(self, file: &Path, place: Option<Place>) -> Self {
        match self.kind {
            PluginErrorKind::Outside => Self::new(file, self.kind).at(place),
            _ => self,
        }
    }

    pub(super) fn config(file: impl Into<PathBuf>, error: ConfigError) -> Self {
        let place = error.place();
        Self::new(file, PluginErrorKind::Config(Box::new(error))).at(place)
    }
}
