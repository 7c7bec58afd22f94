//! The errors of rmcp that are the same for every transport.

use std::error::Error;

use rmcp::service::{ClientInitializeError, ServiceError};
use rmcp::transport::DynamicTransportError;

use crate::error_code::ErrorCode;
use crate::reading::{Reading, peel};

pub(crate) fn read<'a>(error: &'a (dyn Error + 'static)) -> Option<Reading<'a>> {
    if let Some(error) = peel::<ServiceError>(error) {
        return Some(read_service(error));
    }
    if let Some(error) = peel::<ClientInitializeError>(error) {
        return Some(read_initialize(error));
    }
    if let Some(error) = peel::<DynamicTransportError>(error) {
        return Some(read_transport(error));
    }
    peel::<rmcp::ErrorData>(error).map(|_| Reading::Certain(ErrorCode::ProtocolError))
}

fn read_service(error: &ServiceError) -> Reading<'_> {
    // Asked of rmcp itself, because it also knows its OAuth errors, which are behind a feature.
    if error.is_authorization_required() {
        return Reading::Certain(ErrorCode::AuthRequired);
    }
    match error {
        ServiceError::McpError(_) => Reading::Certain(ErrorCode::ProtocolError),
        ServiceError::TransportSend(error) => read_transport(error),
        ServiceError::TransportClosed => Reading::Certain(ErrorCode::TransportClosed),
        ServiceError::UnexpectedResponse => Reading::Certain(ErrorCode::UnexpectedResponse),
        ServiceError::SubscriptionLagged { .. } => Reading::Certain(ErrorCode::SubscriptionLagged),
        ServiceError::Cancelled { .. } => Reading::Certain(ErrorCode::Cancelled),
        ServiceError::Timeout { .. } => Reading::Certain(ErrorCode::RequestTimeout),
        ServiceError::InputRequiredRoundsExceeded { .. } => {
            Reading::Certain(ErrorCode::InputRequiredRoundsExceeded)
        }
        other => Reading::AtLeast(ErrorCode::Unknown, other.source()),
    }
}

fn read_initialize(error: &ClientInitializeError) -> Reading<'_> {
    if error.is_authorization_required() {
        return Reading::Certain(ErrorCode::AuthRequired);
    }
    match error {
        ClientInitializeError::ExpectedInitResponse(_)
        | ClientInitializeError::ExpectedInitResult(_)
        | ClientInitializeError::ConflictInitResponseId(_, _)
        // An error for another request: there is no JSON-RPC error of *this* one to show.
        | ClientInitializeError::UncorrelatedErrorResponse { .. } => {
            Reading::Certain(ErrorCode::UnexpectedResponse)
        }
        ClientInitializeError::ConnectionClosed(_) => Reading::Certain(ErrorCode::TransportClosed),
        // Not the variant's `source`, which is empty.
        ClientInitializeError::TransportError { error, .. } => read_transport(error),
        ClientInitializeError::JsonRpcError(_) => Reading::Certain(ErrorCode::ProtocolError),
        ClientInitializeError::Cancelled => Reading::Certain(ErrorCode::Cancelled),
        // The last attempt is the one that decided; neither is the variant's `source`.
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => {
            Reading::AtLeast(ErrorCode::StartupFailed, Some(&**fallback))
        }
        // No common protocol version, none preferred, and what later releases add: a failure to start at least.
        other => Reading::AtLeast(ErrorCode::StartupFailed, other.source()),
    }
}

fn read_transport(error: &DynamicTransportError) -> Reading<'_> {
    Reading::AtLeast(ErrorCode::TransportError, Some(&*error.error))
}
