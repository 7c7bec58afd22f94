//! A request that got no usable answer.

use std::sync::Arc;

use mcp_telemetry::{Classified, ErrorCode, RequestFailure};
use rmcp::model::ErrorCode as RpcCode;

use super::codec::{Malformed, RpcError};
use super::disconnect::Disconnect;
use super::handshake::UnsupportedVersion;
use super::http::HttpError;
use super::input::UnfitInput;
use super::outbox::Refused;
use crate::deadline::Elapsed;

/// Why a request to a server failed, with the method that was asked for.
#[derive(Debug, thiserror::Error)]
#[error("`{method}` failed")]
pub struct RequestError {
    method: String,
    #[source]
    kind: RequestErrorKind,
}

/// What went wrong with a request.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RequestErrorKind {
    /// The deadline passed (R9).
    #[error(transparent)]
    Timeout(#[from] Elapsed),
    /// The server answered with a JSON-RPC error.
    #[error(transparent)]
    Rpc(#[from] RpcError),
    /// The answer could not be read (R7).
    #[error(transparent)]
    Malformed(#[from] Malformed),
    /// The connection is gone (R10).
    #[error(transparent)]
    Closed(Arc<Disconnect>),
    /// The message could not be queued.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// What was to be sent is not JSON.
    #[error("the parameters cannot be written as JSON")]
    Encode(#[source] serde_json::Error),
    /// The answer has another shape than the method asks for.
    #[error("the answer is not what the method promises")]
    Unexpected(#[source] serde_json::Error),
    /// The endpoint did not answer in the protocol.
    #[error(transparent)]
    Http(#[from] HttpError),
    /// The endpoint has begun another session, of a version that we do not speak (R5, R10).
    #[error(transparent)]
    Version(#[from] UnsupportedVersion),
    /// The server wants to know something that nobody can tell it (B6).
    #[error(transparent)]
    Input(#[from] UnfitInput),
    /// The server wanted to know more each time it was told (B6).
    #[error("the server wanted input {rounds} times and has not answered")]
    RoundsExceeded {
        /// How often it was asked.
        rounds: usize,
    },
}

impl RequestError {
    pub(crate) fn new(method: &str, kind: impl Into<RequestErrorKind>) -> Self {
        Self {
            method: method.to_owned(),
            kind: kind.into(),
        }
    }

    /// The method that was requested.
    #[must_use]
    pub fn method(&self) -> &str {
        &self.method
    }

    /// What went wrong.
    #[must_use]
    pub fn kind(&self) -> &RequestErrorKind {
        &self.kind
    }

    /// The bounded code (T1).
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match &self.kind {
            RequestErrorKind::Timeout(_) => ErrorCode::RequestTimeout,
            RequestErrorKind::Rpc(_) => ErrorCode::ProtocolError,
            RequestErrorKind::Malformed(_)
            | RequestErrorKind::Unexpected(_)
            | RequestErrorKind::Version(_)
            | RequestErrorKind::Input(_) => ErrorCode::UnexpectedResponse,
            RequestErrorKind::RoundsExceeded { .. } => ErrorCode::InputRequiredRoundsExceeded,
            RequestErrorKind::Closed(_) | RequestErrorKind::Refused(Refused::Closed) => {
                ErrorCode::TransportClosed
            }
            RequestErrorKind::Refused(Refused::Full { .. }) => ErrorCode::TransportError,
            RequestErrorKind::Encode(_) => ErrorCode::InvalidRequest,
            RequestErrorKind::Http(error) => error.code(),
        }
    }

    /// The server's own error, where it gave one.
    #[must_use]
    pub fn rpc(&self) -> Option<&RpcError> {
        match &self.kind {
            RequestErrorKind::Rpc(error) => Some(error),
            _ => None,
        }
    }

    /// Whether the server says that it does not know the method.
    pub(crate) fn is_unknown_method(&self) -> bool {
        let unknown = i64::from(RpcCode::METHOD_NOT_FOUND.0);
        self.rpc().is_some_and(|error| error.code() == unknown)
    }

    /// The deadline, where that is the reason.
    #[must_use]
    pub fn elapsed(&self) -> Option<Elapsed> {
        match &self.kind {
            RequestErrorKind::Timeout(elapsed) => Some(*elapsed),
            _ => None,
        }
    }

    /// What the endpoint did instead of answering, where that is the reason.
    #[must_use]
    pub fn http(&self) -> Option<&HttpError> {
        match &self.kind {
            RequestErrorKind::Http(error) => Some(error),
            _ => None,
        }
    }

    /// Whether the server has understood that it was asked, and does not want to be asked again.
    pub(crate) fn is_refusal(&self) -> bool {
        self.rpc().is_some() || self.http().is_some_and(HttpError::is_refusal)
    }

    /// How the connection ended, where that is the reason.
    #[must_use]
    pub fn disconnect(&self) -> Option<&Disconnect> {
        match &self.kind {
            RequestErrorKind::Closed(disconnect) => Some(disconnect),
            _ => None,
        }
    }
}

impl From<&RequestError> for RequestFailure {
    fn from(error: &RequestError) -> Self {
        let failure = Self::new(error.code());
        match error.rpc() {
            Some(rpc) => failure.rpc_status(rpc.code()),
            None => failure,
        }
    }
}

impl Classified for RequestError {
    fn error_code(&self) -> Option<ErrorCode> {
        Some(self.code())
    }
}
