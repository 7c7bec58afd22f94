//! The errors of rmcp's streamable HTTP transport.

use std::error::Error;

use rmcp::transport::streamable_http_client::{
    AuthRequiredError, HttpStatusError, InsufficientScopeError, StreamableHttpError,
};

use crate::error_code::ErrorCode;
use crate::reading::{Reading, peel};

/// Reads the generic error, for one client's `E`.
pub(crate) fn read<E: Error + Send + Sync + 'static>(
    error: &StreamableHttpError<E>,
) -> Reading<'_> {
    match error {
        StreamableHttpError::AuthRequired(_) | StreamableHttpError::InsufficientScope(_) => {
            Reading::Certain(ErrorCode::AuthRequired)
        }
        StreamableHttpError::HttpStatus(status) => read_status(status),
        // Neither is the variant's `source` in every case, so both are named.
        StreamableHttpError::Client(error) => Reading::AtLeast(ErrorCode::TransportError, Some(error)),
        StreamableHttpError::Io(error) => Reading::AtLeast(ErrorCode::TransportError, Some(error)),
        StreamableHttpError::UnexpectedEndOfStream
        | StreamableHttpError::TransportChannelClosed
        | StreamableHttpError::TokioJoinError(_)
        // The session was the connection.
        | StreamableHttpError::SessionExpired => Reading::Certain(ErrorCode::TransportClosed),
        StreamableHttpError::UnexpectedServerResponse(_)
        | StreamableHttpError::ResponseBodyTooLarge { .. }
        | StreamableHttpError::UnexpectedContentType(_)
        | StreamableHttpError::ServerDoesNotSupportSse
        | StreamableHttpError::ServerDoesNotSupportDeleteSession
        | StreamableHttpError::Deserialize(_)
        | StreamableHttpError::MissingSessionIdInResponse => {
            Reading::Certain(ErrorCode::UnexpectedResponse)
        }
        StreamableHttpError::SessionRecoveryTimeout | StreamableHttpError::ControlRequestTimeout => {
            Reading::Certain(ErrorCode::RequestTimeout)
        }
        // The JSON-RPC error answers a handshake, not the request that failed of it.
        StreamableHttpError::ReinitializationFailed(_) => Reading::Certain(ErrorCode::StartupFailed),
        // A header that the configuration must not set; nothing was sent.
        StreamableHttpError::ReservedHeaderConflict(_) => Reading::Certain(ErrorCode::InvalidRequest),
        other => Reading::AtLeast(ErrorCode::TransportError, other.source()),
    }
}

/// Reads those errors of the transport that are not generic.
pub(crate) fn read_parts<'a>(error: &'a (dyn Error + 'static)) -> Option<Reading<'a>> {
    if peel::<AuthRequiredError>(error).is_some() || peel::<InsufficientScopeError>(error).is_some()
    {
        return Some(Reading::Certain(ErrorCode::AuthRequired));
    }
    peel::<HttpStatusError>(error).map(read_status)
}

fn read_status(error: &HttpStatusError) -> Reading<'static> {
    Reading::Certain(match error.status {
        401 | 403 => ErrorCode::AuthRequired,
        _ => ErrorCode::TransportError,
    })
}
