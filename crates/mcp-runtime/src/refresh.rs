//! A refresh that a host asked for and did not get.

use mcp_keys::{InvalidName, McpServerKey, ResolveError};
use mcp_telemetry::{Classified, ErrorCode};

use crate::connection::RequestError;

/// Why a server's tools were not listed again.
#[derive(Debug, thiserror::Error)]
#[error("the tools of server `{server}` could not be listed again")]
pub struct RefreshError {
    server: String,
    #[source]
    kind: RefreshErrorKind,
}

/// The cases of [`RefreshError`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RefreshErrorKind {
    /// A name is none (K1).
    #[error(transparent)]
    Name(InvalidName),
    /// The names mean no server (K7).
    #[error(transparent)]
    Resolve(ResolveError),
    /// The server is not connected.
    #[error("it is not connected")]
    NotConnected,
    /// The listing failed.
    #[error(transparent)]
    Request(RequestError),
}

impl RefreshError {
    pub(crate) fn name(server: &str, error: InvalidName) -> Self {
        Self {
            server: server.to_owned(),
            kind: RefreshErrorKind::Name(error),
        }
    }

    pub(crate) fn resolve(server: &str, error: ResolveError) -> Self {
        Self {
            server: server.to_owned(),
            kind: RefreshErrorKind::Resolve(error),
        }
    }

    pub(crate) fn not_connected(server: &McpServerKey) -> Self {
        Self {
            server: server.to_string(),
            kind: RefreshErrorKind::NotConnected,
        }
    }

    pub(crate) fn request(server: &McpServerKey, error: RequestError) -> Self {
        Self {
            server: server.to_string(),
            kind: RefreshErrorKind::Request(error),
        }
    }

    /// Which case it is.
    #[must_use]
    pub fn kind(&self) -> &RefreshErrorKind {
        &self.kind
    }

    /// The bounded code (T1).
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match &self.kind {
            RefreshErrorKind::Name(_) | RefreshErrorKind::Resolve(_) => ErrorCode::InvalidRequest,
            RefreshErrorKind::NotConnected => ErrorCode::TransportClosed,
            RefreshErrorKind::Request(error) => error.code(),
        }
    }

    /// The failed request, where there was one.
    #[must_use]
    pub fn request_error(&self) -> Option<&RequestError> {
        match &self.kind {
            RefreshErrorKind::Request(error) => Some(error),
            _ => None,
        }
    }

    /// The keys that could have been meant (K7).
    #[must_use]
    pub fn candidates(&self) -> &[McpServerKey] {
        match &self.kind {
            RefreshErrorKind::Resolve(error) => error.candidates(),
            _ => &[],
        }
    }
}

impl Classified for RefreshError {
    fn error_code(&self) -> Option<ErrorCode> {
        Some(self.code())
    }
}
