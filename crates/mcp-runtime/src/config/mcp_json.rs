//! The `mcpServers` JSON that hosts share.
//!
//! ```json
//! {"mcpServers": {"docs": {"command": "docs-server", "args": ["--stdio"]},
//!                 "search": {"url": "https://example.com/mcp"}}}
//! ```
//!
//! The object under `servers`, as VS Code writes it, is read as well. Each entry stands alone: one that is wrong is
//! reported and costs nobody else anything.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use http::{HeaderName, HeaderValue};
use mcp_keys::{InvalidName, ServerName};
use serde::Deserialize;
use serde_json::value::RawValue;
use url::Url;

use super::{Era, HttpTransport, Secret, ServerConfig, StdioTransport, ToolFilter, Transport};

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

/// What is wrong with a configuration, and where.
#[derive(Debug, thiserror::Error)]
#[error("{}", match .server { Some(server) => format!("server `{server}` is not configured correctly"), None => "the configuration cannot be read".to_owned() })]
pub struct ConfigError {
    server: Option<String>,
    #[source]
    kind: ConfigErrorKind,
}

/// The reasons for a [`ConfigError`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigErrorKind {
    /// Not JSON, or a member of the wrong type.
    #[error("invalid JSON")]
    Json(#[source] serde_json::Error),
    /// Neither `mcpServers` nor `servers`.
    #[error("expected an object with the member `mcpServers` (or `servers`)")]
    NoServers,
    /// The name cannot be a server name (K1).
    #[error("the name is not valid")]
    Name(#[source] InvalidName),
    /// Not exactly one of `command` and `url`.
    #[error("expected either `command` (a local server) or `url` (a remote one)")]
    Transport,
    /// A member belongs to the other transport.
    #[error("`{member}` does not go with `{transport}`")]
    Misplaced {
        /// The member.
        member: &'static str,
        /// What the entry is.
        transport: &'static str,
    },
    /// The URL cannot be parsed.
    #[error("`url` is not a URL")]
    Url(#[source] url::ParseError),
    /// The URL's scheme is neither `http` nor `https`.
    #[error("`url` must begin with `http://` or `https://`, not `{scheme}:`")]
    Scheme {
        /// The scheme.
        scheme: String,
    },
    /// A header's name or value cannot be sent. Its value is not shown.
    #[error(
        "header `{name}` cannot be sent: its name or its value has characters that HTTP does not allow"
    )]
    Header {
        /// The configured name.
        name: String,
    },
    /// A time is negative, not a number, or beyond any clock.
    #[error("`{member}` must be a positive number of seconds")]
    Seconds {
        /// The member.
        member: &'static str,
    },
    /// A member that this version knows and does not support; ignoring it would be wrong.
    #[error("`{member}` is not supported yet; remove it to use the server without it")]
    Unsupported {
        /// The member.
        member: &'static str,
    },
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
        let file: File<'_> =
            serde_json::from_str(text.trim_start_matches('\u{feff}')).map_err(|error| {
                ConfigError {
                    server: None,
                    kind: ConfigErrorKind::Json(error),
                }
            })?;
        let Some(servers) = file.mcp_servers.or(file.servers) else {
            return Err(ConfigError {
                server: None,
                kind: ConfigErrorKind::NoServers,
            });
        };
        Self::from_entries(servers.get())
    }

    /// Reads the object of entries itself, as it stands under `mcpServers`.
    ///
    /// # Errors
    ///
    /// Text that is not a JSON object.
    pub fn from_entries(text: &str) -> Result<Self, ConfigError> {
        let entries: BTreeMap<String, &RawValue> =
            serde_json::from_str(text).map_err(|error| ConfigError {
                server: None,
                kind: ConfigErrorKind::Json(error),
            })?;
        let mut read = Self::default();
        for (name, entry) in entries {
            match Entry::read(&name, entry) {
                Ok((server, unknown)) => {
                    read.unknown
                        .extend(unknown.into_iter().map(|member| format!("{name}.{member}")));
                    read.servers.push(server);
                }
                Err(kind) => read.rejected.push(ConfigError {
                    server: Some(name),
                    kind,
                }),
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

impl ConfigError {
    /// The entry, unless the whole configuration is meant.
    #[must_use]
    pub fn server(&self) -> Option<&str> {
        self.server.as_deref()
    }

    /// The reason.
    #[must_use]
    pub fn kind(&self) -> &ConfigErrorKind {
        &self.kind
    }
}

#[derive(Deserialize)]
struct Entry {
    command: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    #[serde(default)]
    env_vars: Vec<String>,
    cwd: Option<PathBuf>,
    url: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    bearer_token_env_var: Option<String>,
    startup_timeout_sec: Option<f64>,
    tool_timeout_sec: Option<f64>,
    enabled: Option<bool>,
    #[serde(default)]
    required: bool,
    enabled_tools: Option<Vec<String>>,
    #[serde(default)]
    disabled_tools: Vec<String>,
    share_listing: Option<bool>,
    #[serde(default)]
    era: EraName,
    approval: Option<Box<RawValue>>,
    tool_approval: Option<Box<RawValue>>,
    /// `stdio`, `http`, ...: said by the other members.
    #[serde(rename = "type")]
    _kind: Option<String>,
    #[serde(flatten)]
    unknown: BTreeMap<String, serde::de::IgnoredAny>,
}

#[derive(Deserialize, Default, Clone, Copy, PartialEq)]
#[serde(rename_all = "lowercase")]
enum EraName {
    #[default]
    Auto,
    Legacy,
    Modern,
}

impl Entry {
    fn read(name: &str, entry: &RawValue) -> Result<(ServerConfig, Vec<String>), ConfigErrorKind> {
        let name = ServerName::new(name).map_err(ConfigErrorKind::Name)?;
        let mut entry: Self = serde_json::from_str(entry.get()).map_err(ConfigErrorKind::Json)?;
        entry.refuse_unsupported()?;
        let unknown = std::mem::take(&mut entry.unknown).into_keys().collect();
        Ok((entry.server(name)?, unknown))
    }

    /// Members that restrict what may run must not be ignored.
    fn refuse_unsupported(&self) -> Result<(), ConfigErrorKind> {
        let unsupported = [
            (self.approval.is_some(), "approval"),
            (self.tool_approval.is_some(), "tool_approval"),
            (self.era == EraName::Modern, "era"),
        ];
        match unsupported.into_iter().find(|(given, _)| *given) {
            Some((_, member)) => Err(ConfigErrorKind::Unsupported { member }),
            None => Ok(()),
        }
    }

    fn server(self, name: ServerName) -> Result<ServerConfig, ConfigErrorKind> {
        let startup = seconds("startup_timeout_sec", self.startup_timeout_sec)?;
        let tool = seconds("tool_timeout_sec", self.tool_timeout_sec)?;
        let mut filter = ToolFilter::all().except(self.disabled_tools.clone());
        if let Some(enabled) = &self.enabled_tools {
            filter = filter.only(enabled.clone());
        }
        let (enabled, required, share) = (
            self.enabled.unwrap_or(true),
            self.required,
            self.share_listing.unwrap_or(true),
        );
        let era = if self.era == EraName::Legacy {
            Era::Legacy
        } else {
            Era::Auto
        };
        let server = ServerConfig::new(name, self.transport()?)
            .startup_timeout(startup.unwrap_or(ServerConfig::DEFAULT_STARTUP_TIMEOUT))
            .tool_timeout(tool.unwrap_or(ServerConfig::DEFAULT_TOOL_TIMEOUT))
            .enabled(enabled)
            .required(required)
            .share_listing(share)
            .era(era)
            .tool_filter(filter);
        Ok(server)
    }

    fn transport(self) -> Result<Transport, ConfigErrorKind> {
        match (self.command.is_some(), self.url.is_some()) {
            (true, false) => self.stdio().map(Transport::Stdio),
            (false, true) => self.http().map(Transport::Http),
            _ => Err(ConfigErrorKind::Transport),
        }
    }

    fn stdio(self) -> Result<StdioTransport, ConfigErrorKind> {
        misplaced(
            "command",
            [
                ("headers", !self.headers.is_empty()),
                ("bearer_token_env_var", self.bearer_token_env_var.is_some()),
            ],
        )?;
        Ok(StdioTransport {
            command: self.command.unwrap_or_default(),
            args: self.args,
            env: self
                .env
                .into_iter()
                .map(|(name, value)| (name, Secret::new(value)))
                .collect(),
            env_vars: self.env_vars,
            cwd: self.cwd,
        })
    }

    fn http(self) -> Result<HttpTransport, ConfigErrorKind> {
        misplaced(
            "url",
            [
                ("args", !self.args.is_empty()),
                ("env", !self.env.is_empty()),
                ("env_vars", !self.env_vars.is_empty()),
                ("cwd", self.cwd.is_some()),
            ],
        )?;
        let url = Url::parse(&self.url.unwrap_or_default()).map_err(ConfigErrorKind::Url)?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(ConfigErrorKind::Scheme {
                scheme: url.scheme().to_owned(),
            });
        }
        let mut http = HttpTransport::new(url);
        for (name, value) in self.headers {
            let parsed = name
                .parse::<HeaderName>()
                .ok()
                .zip(HeaderValue::from_str(&value).ok());
            let Some((header, value)) = parsed else {
                return Err(ConfigErrorKind::Header { name });
            };
            http = http.header(header, value);
        }
        http.bearer_token_env_var = self.bearer_token_env_var;
        Ok(http)
    }
}

fn misplaced<const N: usize>(
    transport: &'static str,
    members: [(&'static str, bool); N],
) -> Result<(), ConfigErrorKind> {
    match members.into_iter().find(|(_, given)| *given) {
        Some((member, _)) => Err(ConfigErrorKind::Misplaced { member, transport }),
        None => Ok(()),
    }
}

fn seconds(member: &'static str, value: Option<f64>) -> Result<Option<Duration>, ConfigErrorKind> {
    let convert = |value: f64| {
        Duration::try_from_secs_f64(value)
            .ok()
            .filter(|duration| !duration.is_zero())
    };
    value
        .map(|value| convert(value).ok_or(ConfigErrorKind::Seconds { member }))
        .transpose()
}

#[cfg(test)]
mod tests;
