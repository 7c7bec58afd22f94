//! What can be wrong with a configuration.

use mcp_keys::InvalidName;

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
    /// Not JSON.
    #[error("invalid JSON")]
    Json(#[source] serde_json::Error),
    /// A member is not what it has to be. Its value is not shown: it may be a secret.
    #[error("`{member}` must be {expected}")]
    Member {
        /// The member.
        member: &'static str,
        /// What was expected.
        expected: &'static str,
    },
    /// A member stands twice; which of them is meant cannot be told.
    #[error("`{member}` stands twice")]
    Repeated {
        /// The member.
        member: String,
    },
    /// The entry is no object.
    #[error("expected an object with `command` or `url`")]
    NotAnObject,
    /// Neither `mcpServers` nor `servers`.
    #[error("expected an object with the member `mcpServers` (or `servers`)")]
    NoServers,
    /// What should hold the servers is no object.
    #[error("expected an object whose members are servers, each under its name")]
    Servers,
    /// The name cannot be a server name (K1).
    #[error("the name is not valid")]
    Name(#[source] InvalidName),
    /// Another entry before it has the same name.
    #[error("another server before it has the same name; rename one of them")]
    Duplicate,
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
    /// A member that this version knows and does not support; ignoring it would be wrong.
    #[error("`{member}` is not supported yet; remove it to use the server without it")]
    Unsupported {
        /// The member.
        member: &'static str,
    },
}

impl ConfigError {
    pub(super) fn no_servers() -> Self {
        Self {
            server: None,
            kind: ConfigErrorKind::NoServers,
        }
    }

    pub(super) fn of_entry(server: String, kind: ConfigErrorKind) -> Self {
        Self {
            server: Some(server),
            kind,
        }
    }

    /// What serde says of data repeats the data, which may hold secrets; of syntax it says only where.
    pub(super) fn of_whole(error: serde_json::Error, shape: ConfigErrorKind) -> Self {
        let kind = if error.is_data() {
            shape
        } else {
            ConfigErrorKind::Json(error)
        };
        Self { server: None, kind }
    }

    /// The entry, unless the whole configuration is meant.
    #[must_use]
    pub fn server(&self) -> Option<&str> {
        self.server.as_deref()
    }

    /// The member that is wrong, where it is one.
    #[must_use]
    pub fn member(&self) -> Option<&'static str> {
        match &self.kind {
            ConfigErrorKind::Member { member, .. }
            | ConfigErrorKind::Misplaced { member, .. }
            | ConfigErrorKind::Unsupported { member } => Some(member),
            ConfigErrorKind::Url(_) | ConfigErrorKind::Scheme { .. } => Some("url"),
            ConfigErrorKind::Header { .. } => Some("headers"),
            _ => None,
        }
    }

    /// The reason.
    #[must_use]
    pub fn kind(&self) -> &ConfigErrorKind {
        &self.kind
    }
}
