//! A refresh that a host asked for and did not get.

use mcp_telemetry::ErrorCode;

use crate::call::PrepareError;
use crate::connection::RequestError;

/// Why a server's tools were not listed again.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RefreshError {
    /// The names mean no connected server.
    #[error(transparent)]
    Server(#[from] PrepareError),
    /// The listing failed.
    #[error(transparent)]
    Request(#[from] RequestError),
}

impl RefreshError {
    /// The bounded code (T1).
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Server(error) => error.code(),
            Self::Request(error) => error.code(),
        }
    }
}
