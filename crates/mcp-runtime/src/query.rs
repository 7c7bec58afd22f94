//! What is asked of a server by its name, and did not come.

use std::fmt;
use std::time::Duration;

use mcp_keys::{InvalidName, McpServerKey, ResolveError};
use mcp_telemetry::{Classified, ErrorCode};

use crate::connection::RequestError;
use crate::deadline::Deadline;
use crate::outage::Outage;
use crate::slot::{Slot, SlotState};

/// What goes with a query.
#[derive(Debug, Clone, Copy, Default)]
pub struct QueryOptions {
    timeout: Option<Duration>,
}

impl QueryOptions {
    /// The server's own budget.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A smaller budget than the server's `tool_timeout`; a larger one changes nothing (B3).
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    pub(crate) fn deadline(&self, budget: Duration) -> Deadline {
        Deadline::after(self.timeout.map_or(budget, |timeout| timeout.min(budget)))
    }
}

/// Why a server could not be asked, or gave no usable answer.
#[derive(Debug, thiserror::Error)]
#[error("asking server `{server}` failed")]
pub struct QueryError {
    server: Asked,
    #[source]
    kind: QueryErrorKind,
}

/// Whom a query was for.
#[derive(Debug)]
enum Asked {
    /// The name as the caller wrote it; it leads to no server.
    Named(String),
    Key(McpServerKey),
}

/// The cases of [`QueryError`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum QueryErrorKind {
    /// A name is none (K1).
    #[error(transparent)]
    Name(InvalidName),
    /// The names mean no server (K7).
    #[error(transparent)]
    Resolve(ResolveError),
    /// The server has lost its connection (R10). Nothing waits for a new one.
    #[error("it is not connected")]
    Disconnected(#[source] Outage),
    /// The server is known, and has not been connected.
    #[error("it is not connected")]
    NotConnected,
    /// The arguments of a prompt are no JSON object.
    #[error("the arguments must be a JSON object")]
    Arguments,
    /// The request failed.
    #[error(transparent)]
    Request(RequestError),
}

impl QueryError {
    pub(crate) fn name(server: &str, error: InvalidName) -> Self {
        Self {
            server: Asked::Named(server.to_owned()),
            kind: QueryErrorKind::Name(error),
        }
    }

    pub(crate) fn resolve(server: &str, error: ResolveError) -> Self {
        Self {
            server: Asked::Named(server.to_owned()),
            kind: QueryErrorKind::Resolve(error),
        }
    }

    pub(crate) fn not_connected(server: &McpServerKey) -> Self {
        Self {
            server: Asked::Key(server.clone()),
            kind: QueryErrorKind::NotConnected,
        }
    }

    pub(crate) fn arguments(server: &McpServerKey) -> Self {
        Self {
            server: Asked::Key(server.clone()),
            kind: QueryErrorKind::Arguments,
        }
    }

    /// The server of a slot has no connection.
    pub(crate) fn without_connection(slot: &Slot) -> Self {
        match slot.state() {
            SlotState::Disconnected(outage) => Self {
                server: Asked::Key(slot.key.clone()),
                kind: QueryErrorKind::Disconnected(outage),
            },
            _ => Self::not_connected(&slot.key),
        }
    }

    pub(crate) fn request(server: &McpServerKey, error: RequestError) -> Self {
        Self {
            server: Asked::Key(server.clone()),
            kind: QueryErrorKind::Request(error),
        }
    }

    /// The server that was asked; `None` when the names mean none.
    #[must_use]
    pub fn server(&self) -> Option<&McpServerKey> {
        match &self.server {
            Asked::Named(_) => None,
            Asked::Key(key) => Some(key),
        }
    }

    /// Which case it is.
    #[must_use]
    pub fn kind(&self) -> &QueryErrorKind {
        &self.kind
    }

    /// The bounded code (T1).
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match &self.kind {
            QueryErrorKind::Name(_) | QueryErrorKind::Resolve(_) | QueryErrorKind::Arguments => {
                ErrorCode::InvalidRequest
            }
            QueryErrorKind::Disconnected(_) | QueryErrorKind::NotConnected => {
                ErrorCode::TransportClosed
            }
            QueryErrorKind::Request(error) => error.code(),
        }
    }

    /// The failed request, where there was one.
    #[must_use]
    pub fn request_error(&self) -> Option<&RequestError> {
        match &self.kind {
            QueryErrorKind::Request(error) => Some(error),
            _ => None,
        }
    }

    /// How the server's connection ended, where that is the reason.
    #[must_use]
    pub fn outage(&self) -> Option<&Outage> {
        match &self.kind {
            QueryErrorKind::Disconnected(outage) => Some(outage),
            _ => None,
        }
    }

    /// The keys that could have been meant (K7).
    #[must_use]
    pub fn candidates(&self) -> &[McpServerKey] {
        match &self.kind {
            QueryErrorKind::Resolve(error) => error.candidates(),
            _ => &[],
        }
    }
}

impl fmt::Display for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named(name) => name.fmt(f),
            Self::Key(key) => key.fmt(f),
        }
    }
}

impl Classified for QueryError {
    fn error_code(&self) -> Option<ErrorCode> {
        Some(self.code())
    }
}
