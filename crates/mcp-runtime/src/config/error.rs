//! What can be wrong with a configuration.

use mcp_keys::InvalidName;
use serde_json::value::RawValue;

use super::Place;
use super::members::Members;

/// What is wrong with a configuration, and where.
#[derive(Debug, thiserror::Error)]
#[error("{}", match .server { Some(server) => format!("server `{server}` is not configured correctly"), None => "the configuration cannot be read".to_owned() })]
pub struct ConfigError {
    server: Option<String>,
    is_required: bool,
    place: Option<Place>,
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
    /// The text is not JSON. Of syntax, serde says only where; of data, it would repeat what may be secrets.
    pub(super) fn syntax(error: serde_json::Error) -> Self {
        Self {
            server: None,
            is_required: false,
            place: Some(Place::of_json_error(&error)),
            kind: ConfigErrorKind::Json(error),
        }
    }

    /// What should hold the servers is something else.
    pub(super) fn shape(place: Place, kind: ConfigErrorKind) -> Self {
        Self {
            server: None,
            is_required: false,
            place: Some(place),
            kind,
        }
    }

    /// `entry` was borrowed from `text`.
    pub(super) fn of_entry(
        server: String,
        entry: &RawValue,
        text: &str,
        kind: ConfigErrorKind,
    ) -> Self {
        let Members(members) = serde_json::from_str(entry.get()).unwrap_or_default();
        let value = |name: &str| {
            let mut members = members.iter();
            members.find_map(|(member, value)| (member == name).then_some(*value))
        };
        let wrong = kind.member().and_then(value).unwrap_or(entry);
        Self {
            server: Some(server),
            is_required: value("required").is_some_and(|required| required.get() == "true"),
            place: Place::of_part(wrong, text),
            kind,
        }
    }

    /// The entry, unless the whole configuration is meant.
    #[must_use]
    pub fn server(&self) -> Option<&str> {
        self.server.as_deref()
    }

    /// Whether the entry says of itself that nothing works without it, whatever else is wrong with it (R1).
    #[must_use]
    pub fn is_required(&self) -> bool {
        self.is_required
    }

    /// Where in the text it is: the member that is wrong, or else the entry.
    #[must_use]
    pub fn place(&self) -> Option<Place> {
        self.place
    }

    /// The member that is wrong, where it is one.
    #[must_use]
    pub fn member(&self) -> Option<&'static str> {
        self.kind.member()
    }

    /// The reason.
    #[must_use]
    pub fn kind(&self) -> &ConfigErrorKind {
        &self.kind
    }
}

impl ConfigErrorKind {
    fn member(&self) -> Option<&'static str> {
        match self {
            Self::Member { member, .. }
            | Self::Misplaced { member, .. }
            | Self::Unsupported { member } => Some(member),
            Self::Url(_) | Self::Scheme { .. } => Some("url"),
            Self::Header { .. } => Some("headers"),
            _ => None,
        }
    }
}
