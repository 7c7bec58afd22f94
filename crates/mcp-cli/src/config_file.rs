//! The configuration file: read, and every mistake told with its place.

use std::fmt::Write as _;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use mcp_runtime::{ConfigError, ConfigErrorKind, ErrorChain, McpServers, Place, ServerConfig};

use crate::screen;

/// What a configuration file says.
#[derive(Debug)]
pub(crate) struct ConfigFile {
    path: PathBuf,
    servers: Vec<ServerConfig>,
    rejected: Vec<Rejected>,
    unknown: Vec<String>,
}

/// An entry that cannot be used.
#[derive(Debug)]
struct Rejected {
    server: String,
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
        Self::parse(path, &text).map_err(|(place, kind)| fail(place, kind))
    }

    fn parse(path: &Path, text: &str) -> Result<Self, (Option<Place>, ConfigFileErrorKind)> {
        let read = McpServers::from_json(text).map_err(|error| {
            let kind = match error.kind() {
                ConfigErrorKind::Json(error) => ConfigFileErrorKind::Syntax(without_place(error)),
                kind => ConfigFileErrorKind::Shape(ErrorChain(kind).to_string()),
            };
            (error.place(), kind)
        })?;
        let file = Self {
            path: path.to_owned(),
            rejected: read.rejected().iter().map(Rejected::new).collect(),
            unknown: read.unknown_members().to_vec(),
            servers: read.into_servers(),
        };
        match (file.servers.as_slice(), file.rejected.as_slice()) {
            ([], []) => Err((None, ConfigFileErrorKind::NoServers)),
            ([], rejected) => {
                let mut list = String::new();
                for rejected in rejected {
                    // Writing to a string does not fail.
                    let _ = write!(list, "\n  {}", rejected.describe(path));
                }
                Err((None, ConfigFileErrorKind::AllRejected(list)))
            }
            _ => Ok(file),
        }
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

    pub(crate) fn servers(&self) -> &[ServerConfig] {
        &self.servers
    }

    /// Whether an entry that cannot be used says that nothing works without it.
    pub(crate) fn lacks_required(&self) -> bool {
        self.rejected.iter().any(|rejected| rejected.required)
    }

    /// The entries that cannot be used: their names, and what is wrong with them.
    pub(crate) fn rejected(&self) -> impl Iterator<Item = (&str, String)> {
        self.rejected
            .iter()
            .map(|rejected| (rejected.server.as_str(), rejected.describe(&self.path)))
    }
}

impl Rejected {
    fn new(error: &ConfigError) -> Self {
        Self {
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
