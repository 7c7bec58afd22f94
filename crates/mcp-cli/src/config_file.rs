//! The configuration file: read, and every mistake told with its place.

use std::fmt::Write as _;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use mcp_runtime::{
    ConfigError, ConfigErrorKind, Environment, EnvironmentId, ErrorChain, McpRuntimeBuilder,
    McpServerKey, McpServers, Place, ServerConfig,
};
use serde::Deserialize;
use serde_json::error::Category;
use serde_json::value::RawValue;

use crate::environment::{EnvironmentMembers, Features, InvalidEnvironment};
use crate::screen;

/// What a configuration file says.
#[derive(Debug)]
pub(crate) struct ConfigFile {
    path: PathBuf,
    servers: Vec<ServerConfig>,
    environments: Vec<OfEnvironment>,
    features: Features,
    has_plugins: bool,
    rejected: Vec<Rejected>,
    unknown: Vec<String>,
}

/// An environment, and the servers that it will have.
#[derive(Debug)]
struct OfEnvironment {
    environment: Environment,
    servers: Vec<ServerConfig>,
}

/// What stands beside the servers of the host.
#[derive(Default, Deserialize)]
struct Beside<'a> {
    #[serde(borrow, default)]
    environments: Vec<EnvironmentMembers<&'a RawValue>>,
    #[serde(default)]
    features: Features,
}

/// An entry that cannot be used.
#[derive(Debug)]
struct Rejected {
    server: String,
    environment: Option<EnvironmentId>,
    required: bool,
    place: Option<Place>,
    why: String,
}

/// Why a configuration file cannot be used at all.
#[derive(Debug, thiserror::Error)]
#[error("{}{}", .path.display(), .place.map(|place| place.to_string()).unwrap_or_default())]
pub(crate) struct ConfigFileError {
    path: PathBuf,
    place: Option<Place>,
    #[source]
    kind: ConfigFileErrorKind,
}

/// The cases of [`ConfigFileError`].
#[derive(Debug, thiserror::Error)]
enum ConfigFileErrorKind {
    #[error("there is no such file; give the path of a configuration file with --config")]
    NotFound,
    #[error(
        "this is a directory; give the path of the configuration file in it, such as `.mcp.json`"
    )]
    Directory,
    #[error("the file cannot be read")]
    Unreadable(#[source] io::Error),
    #[error("the file is not UTF-8; save it as UTF-8")]
    NotUtf8,
    #[error("not valid JSON: {0}")]
    Syntax(String),
    #[error("{0}")]
    Shape(String),
    #[error(
        "no server is configured; add one under `mcpServers`, such as {{\"docs\": {{\"command\": \"docs-server\"}}}}"
    )]
    NoServers,
    #[error("what stands beside the servers cannot be read: {0}")]
    Beside(String),
    #[error("an environment cannot be used")]
    Environment(#[source] InvalidEnvironment),
    #[error("no server can be used:{0}")]
    AllRejected(String),
}

impl ConfigFile {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// When there is no server to start: the file cannot be read, is no configuration, or no entry can be used.
    pub(crate) fn read(path: &Path) -> Result<Self, ConfigFileError> {
        let fail = |place, kind| ConfigFileError {
            path: path.to_owned(),
            place,
            kind,
        };
        let bytes = std::fs::read(path).map_err(|error| {
            let kind = match error.kind() {
                ErrorKind::NotFound => ConfigFileErrorKind::NotFound,
                ErrorKind::IsADirectory => ConfigFileErrorKind::Directory,
                _ => ConfigFileErrorKind::Unreadable(error),
            };
            fail(None, kind)
        })?;
        let text = String::from_utf8(bytes).map_err(|error| {
            let place = Place::after(&error.as_bytes()[..error.utf8_error().valid_up_to()]);
            fail(Some(place), ConfigFileErrorKind::NotUtf8)
        })?;
        Self::parse(path, &text).map_err(|Mistake { place, kind }| fail(place, kind))
    }

    fn parse(path: &Path, text: &str) -> Result<Self, Mistake> {
        let beside = Beside::read(text)?;
        let read = match McpServers::from_json(text) {
            // A file may be all about environments.
            Err(error)
                if matches!(error.kind(), ConfigErrorKind::NoServers)
                    && !beside.environments.is_empty() =>
            {
                McpServers::default()
            }
            read => read?,
        };
        let mut file = Self {
            path: path.to_owned(),
            rejected: read.rejected().iter().map(Rejected::new).collect(),
            unknown: read.unknown_members().to_vec(),
            servers: read.into_servers(),
            environments: Vec::new(),
            features: beside.features,
            has_plugins: false,
        };
        for members in beside.environments {
            file.add_environment(members, text)?;
        }
        match (file.is_empty(), file.rejected.as_slice()) {
            (true, []) => Err(ConfigFileErrorKind::NoServers.into()),
            (true, rejected) => {
                let mut list = String::new();
                for rejected in rejected {
                    // Writing to a string does not fail.
                    let _ = write!(list, "\n  {}", rejected.describe(path));
                }
                Err(ConfigFileErrorKind::AllRejected(list).into())
            }
            _ => Ok(file),
        }
    }

    fn add_environment(
        &mut self,
        members: EnvironmentMembers<&RawValue>,
        text: &str,
    ) -> Result<(), Mistake> {
        self.has_plugins |= members.has_plugins();
        let mut servers = Vec::new();
        let environment = members.environment(None, |id, entries| {
            let read = McpServers::from_part(text, entries)?;
            let rejected = read.rejected().iter().map(|error| Rejected {
                environment: Some(id.clone()),
                ..Rejected::new(error)
            });
            self.rejected.extend(rejected);
            let unknown = read.unknown_members().iter();
            self.unknown
                .extend(unknown.map(|member| format!("{id}/{member}")));
            servers = read.into_servers();
            // They are added when it is known which are needed.
            Ok::<_, Mistake>(Vec::new())
        })?;
        self.environments.push(OfEnvironment {
            environment,
            servers,
        });
        Ok(())
    }

    fn is_empty(&self) -> bool {
        self.keys().next().is_none() && !self.has_plugins
    }

    /// The keys of all servers that are named in the file.
    pub(crate) fn keys(&self) -> impl Iterator<Item = McpServerKey> {
        let of_host = self.servers.iter();
        let of_host = of_host.map(|server| McpServerKey::host(server.name().clone()));
        let owned = self.environments.iter().flat_map(|of| {
            let id = of.environment.id();
            let keys = of.servers.iter();
            keys.map(|server| McpServerKey::in_environment(id.clone(), server.name().clone()))
        });
        of_host.chain(owned)
    }

    /// Whether there may be servers that the file does not name.
    pub(crate) fn has_plugins(&self) -> bool {
        self.has_plugins
    }

    /// Adds everything to a builder, but for the servers that are not wanted.
    pub(crate) fn configure(
        &self,
        builder: McpRuntimeBuilder,
        wanted: impl Fn(&McpServerKey) -> bool,
        change: impl Fn(ServerConfig) -> ServerConfig,
    ) -> McpRuntimeBuilder {
        let chosen = |servers: &[ServerConfig], environment: Option<&EnvironmentId>| {
            let key = |server: &ServerConfig| match environment {
                None => McpServerKey::host(server.name().clone()),
                Some(id) => McpServerKey::in_environment(id.clone(), server.name().clone()),
            };
            let servers = servers.iter().filter(|server| wanted(&key(server)));
            servers.cloned().map(&change).collect::<Vec<_>>()
        };
        let builder = builder
            .multi_environment(self.features.multi_environment())
            .servers(chosen(&self.servers, None));
        self.environments.iter().fold(builder, |builder, of| {
            let servers = chosen(&of.servers, Some(of.environment.id()));
            builder.environment(of.environment.clone().servers(servers))
        })
    }

    /// Tells on stderr what of the file is not used.
    pub(crate) fn tell_unused(&self) {
        for rejected in &self.rejected {
            screen::warning(rejected.describe(&self.path));
        }
        if !self.unknown.is_empty() {
            screen::note(format_args!(
                "{}: not known here and ignored: {}",
                self.path.display(),
                self.unknown.join(", ")
            ));
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether an entry that cannot be used says that nothing works without it.
    pub(crate) fn lacks_required(&self) -> bool {
        self.rejected.iter().any(|rejected| rejected.required)
    }

    /// The entries that cannot be used: their names, whose they are, and what is wrong with them.
    pub(crate) fn rejected(&self) -> impl Iterator<Item = (&str, Option<&EnvironmentId>, String)> {
        self.rejected.iter().map(|rejected| {
            let (server, environment) = (rejected.server.as_str(), rejected.environment.as_ref());
            (server, environment, rejected.describe(&self.path))
        })
    }
}

/// What is wrong with a text, and where.
struct Mistake {
    place: Option<Place>,
    kind: ConfigFileErrorKind,
}

impl From<ConfigFileErrorKind> for Mistake {
    fn from(kind: ConfigFileErrorKind) -> Self {
        Self { place: None, kind }
    }
}

impl From<ConfigError> for Mistake {
    fn from(error: ConfigError) -> Self {
        let kind = match error.kind() {
            ConfigErrorKind::Json(error) => ConfigFileErrorKind::Syntax(without_place(error)),
            kind => ConfigFileErrorKind::Shape(ErrorChain(kind).to_string()),
        };
        let place = error.place();
        Self { place, kind }
    }
}

impl From<InvalidEnvironment> for Mistake {
    fn from(error: InvalidEnvironment) -> Self {
        ConfigFileErrorKind::Environment(error).into()
    }
}

impl<'a> Beside<'a> {
    fn read(text: &'a str) -> Result<Self, Mistake> {
        let json = text.trim_start_matches('\u{feff}');
        // What is no object at all is told by whoever reads the servers.
        if !json.trim_start().starts_with('{') {
            return Ok(Self::default());
        }
        serde_json::from_str(json).or_else(|error| match error.classify() {
            Category::Data => Err(Mistake {
                place: Some(Place::new(error.line(), error.column())),
                kind: ConfigFileErrorKind::Beside(without_place(&error)),
            }),
            _ => Ok(Self::default()),
        })
    }
}

impl Rejected {
    fn new(error: &ConfigError) -> Self {
        Self {
            environment: None,
            server: error.server().unwrap_or_default().to_owned(),
            required: error.is_required(),
            place: error.place(),
            why: ErrorChain(error.kind()).to_string(),
        }
    }

    fn describe(&self, path: &Path) -> String {
        let place = self
            .place
            .map(|place| place.to_string())
            .unwrap_or_default();
        format!(
            "{}{place}: server `{}` is left out: {}",
            path.display(),
            self.server,
            self.why
        )
    }
}

/// What a JSON error says, apart from where it is.
fn without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    text.strip_suffix(&place).unwrap_or(&text).to_owned()
}
