//! Every known type, wrapped twice, and the wrappings themselves.

use std::any::TypeId;
use std::io;
use std::time::Duration;

use rmcp::ErrorData;
use rmcp::model::RequestId;
use rmcp::service::{ClientInitializeError, ServiceError};
use rmcp::transport::DynamicTransportError;
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, HttpStatusError, InsufficientScopeError,
};

use super::*;

type Boxed = Box<dyn Error + Send + Sync>;

#[derive(Debug, thiserror::Error)]
#[error("the HTTP client failed")]
struct ClientError(#[source] Option<Boxed>);

#[derive(Debug, thiserror::Error)]
#[error("the second try failed")]
struct Inner(#[source] Boxed);

#[derive(Debug, thiserror::Error)]
#[error("the call failed")]
struct Outer<E: Error + 'static>(#[source] E);

type Http = StreamableHttpError<ClientError>;

/// A fault of our own that rmcp carries without knowing it.
#[derive(Debug, thiserror::Error)]
#[error("a line without an end")]
struct Oversized;

impl Classified for Oversized {
    fn error_code(&self) -> Option<ErrorCode> {
        Some(ErrorCode::UnexpectedResponse)
    }
}

/// An error of our own that leaves the code to its source where it has one.
#[derive(Debug, thiserror::Error)]
#[error("the server did not start")]
struct Startup(#[source] Option<ServiceError>);

impl Classified for Startup {
    fn error_code(&self) -> Option<ErrorCode> {
        self.0.is_none().then_some(ErrorCode::StartupFailed)
    }
}

fn classifier() -> Classifier {
    Classifier::new()
        .with_error::<Oversized>()
        .with_error::<Startup>()
        .with_http_client::<ClientError>()
}

/// The code of `error`, bare and in every kind of wrapping.
#[track_caller]
fn check(error: impl Error + Send + Sync + 'static, expected: ErrorCode) {
    let shown = format!("{error:?}");
    let shared = Arc::new(error);
    let erased: Arc<dyn Error + Send + Sync> = shared.clone();
    let wrappings: [(&str, Box<dyn Error>); 7] = [
        ("an Arc", Box::new(Arc::clone(&shared))),
        ("an Arc in a Box", Box::new(Box::new(Arc::clone(&shared)))),
        (
            "two structs and a Box",
            Box::new(Outer(Inner(Box::new(Arc::clone(&shared))))),
        ),
        (
            "a struct and a Box",
            Box::new(Outer(Box::new(Arc::clone(&shared)))),
        ),
        (
            "a struct and an erased Arc",
            Box::new(Outer(Arc::clone(&erased))),
        ),
        (
            "a struct and an Arc of an erased Arc",
            Box::new(Outer(Arc::new(erased))),
        ),
        (
            "a struct and an I/O error",
            Box::new(Outer(io::Error::other(Arc::clone(&shared)))),
        ),
    ];
    assert_eq!(classifier().classify(&*shared), expected, "bare: {shown}");
    for (how, wrapped) in wrappings {
        assert_eq!(
            classifier().classify(&*wrapped),
            expected,
            "in {how}: {shown}"
        );
    }
}

fn transport(error: impl Error + Send + Sync + 'static) -> DynamicTransportError {
    DynamicTransportError::from_parts("test", TypeId::of::<()>(), Box::new(error))
}

fn sent(error: impl Error + Send + Sync + 'static) -> ServiceError {
    ServiceError::TransportSend(transport(error))
}

fn handshake(error: impl Error + Send + Sync + 'static) -> ClientInitializeError {
    ClientInitializeError::TransportError {
        error: transport(error),
        context: "initialize".into(),
    }
}

fn rpc_error() -> ErrorData {
    ErrorData::internal_error("no", None)
}

/// T1, T2
#[test]
fn every_service_error_has_a_code() {
    check(
        ServiceError::McpError(rpc_error()),
        ErrorCode::ProtocolError,
    );
    check(sent(Outer(ClientError(None))), ErrorCode::TransportError);
    check(ServiceError::TransportClosed, ErrorCode::TransportClosed);
    check(
        ServiceError::UnexpectedResponse,
        ErrorCode::UnexpectedResponse,
    );
    check(
        ServiceError::SubscriptionLagged { capacity: 64 },
        ErrorCode::SubscriptionLagged,
    );
    check(
        ServiceError::Cancelled {
            reason: Some("timeout".into()),
        },
        ErrorCode::Cancelled,
    );
    check(
        ServiceError::Timeout {
            timeout: Duration::from_secs(1),
        },
        ErrorCode::RequestTimeout,
    );
    check(
        ServiceError::InputRequiredRoundsExceeded { max_rounds: 10 },
        ErrorCode::InputRequiredRoundsExceeded,
    );
}

/// T1, T2
#[test]
fn every_client_initialize_error_has_a_code() {
    use ClientInitializeError as Init;

    let id = || RequestId::Number(1);
    check(
        Init::ExpectedInitResponse(None),
        ErrorCode::UnexpectedResponse,
    );
    check(
        Init::ExpectedInitResult(None),
        ErrorCode::UnexpectedResponse,
    );
    check(
        Init::ConflictInitResponseId(id(), id()),
        ErrorCode::UnexpectedResponse,
    );
    check(
        Init::UncorrelatedErrorResponse {
            expected: id(),
            received: id(),
        },
        ErrorCode::UnexpectedResponse,
    );
    check(
        Init::ConnectionClosed("initialize response".into()),
        ErrorCode::TransportClosed,
    );
    check(handshake(ClientError(None)), ErrorCode::TransportError);
    check(Init::JsonRpcError(rpc_error()), ErrorCode::ProtocolError);
    check(
        Init::NoCompatibleProtocolVersion {
            client_supported: vec![],
            server_supported: vec![],
        },
        ErrorCode::StartupFailed,
    );
    check(Init::NoPreferredProtocolVersion, ErrorCode::StartupFailed);
    check(Init::Cancelled, ErrorCode::Cancelled);
    let both = |fallback| Init::LegacyFallbackFailed {
        discover: Box::new(Init::Cancelled),
        fallback: Box::new(fallback),
    };
    check(
        both(Init::ConnectionClosed(String::new())),
        ErrorCode::TransportClosed,
    );
    check(
        both(handshake(Http::SessionExpired)),
        ErrorCode::TransportClosed,
    );
}

/// T2: the reason lies below the transport error that carries it.
#[test]
fn a_transport_error_gives_way_to_what_it_carries() {
    let broken = || io::Error::from(io::ErrorKind::BrokenPipe);
    check(sent(broken()), ErrorCode::TransportClosed);
    check(handshake(broken()), ErrorCode::TransportClosed);
    check(
        sent(io::Error::from(io::ErrorKind::ConnectionRefused)),
        ErrorCode::TransportError,
    );
    check(sent(Oversized), ErrorCode::UnexpectedResponse);
    check(
        sent(Http::Client(ClientError(Some(Box::new(Oversized))))),
        ErrorCode::UnexpectedResponse,
    );
    check(
        sent(Http::Client(ClientError(Some(Box::new(broken()))))),
        ErrorCode::TransportClosed,
    );
    check(handshake(Http::Io(broken())), ErrorCode::TransportClosed);
    let challenge = || AuthRequiredError::new("Bearer".into());
    check(
        sent(Http::AuthRequired(challenge())),
        ErrorCode::AuthRequired,
    );
    check(
        handshake(Outer(Http::AuthRequired(challenge()))),
        ErrorCode::AuthRequired,
    );
    check(
        sent(InsufficientScopeError::new("Bearer".into(), None)),
        ErrorCode::AuthRequired,
    );
}

/// T2
#[test]
fn every_streamable_http_error_has_a_code() {
    let scope = InsufficientScopeError::new("Bearer".into(), Some("write".into()));
    let json = serde_json::from_str::<u8>("x").unwrap_err();
    check(
        Http::Io(io::Error::from(io::ErrorKind::HostUnreachable)),
        ErrorCode::TransportError,
    );
    check(Http::Client(ClientError(None)), ErrorCode::TransportError);
    check(
        Http::HttpStatus(HttpStatusError::new(503, None)),
        ErrorCode::TransportError,
    );
    check(
        Http::HttpStatus(HttpStatusError::new(401, None)),
        ErrorCode::AuthRequired,
    );
    check(HttpStatusError::new(403, None), ErrorCode::AuthRequired);
    check(Http::UnexpectedEndOfStream, ErrorCode::TransportClosed);
    check(
        Http::UnexpectedServerResponse("<html>".into()),
        ErrorCode::UnexpectedResponse,
    );
    check(
        Http::ResponseBodyTooLarge { max_size: 1 },
        ErrorCode::UnexpectedResponse,
    );
    check(
        Http::UnexpectedContentType(None),
        ErrorCode::UnexpectedResponse,
    );
    check(Http::ServerDoesNotSupportSse, ErrorCode::UnexpectedResponse);
    check(
        Http::ServerDoesNotSupportDeleteSession,
        ErrorCode::UnexpectedResponse,
    );
    check(Http::Deserialize(json), ErrorCode::UnexpectedResponse);
    check(Http::TransportChannelClosed, ErrorCode::TransportClosed);
    check(
        Http::MissingSessionIdInResponse,
        ErrorCode::UnexpectedResponse,
    );
    check(Http::InsufficientScope(scope), ErrorCode::AuthRequired);
    check(
        Http::ReservedHeaderConflict("accept".into()),
        ErrorCode::InvalidRequest,
    );
    check(Http::SessionExpired, ErrorCode::TransportClosed);
    check(Http::SessionRecoveryTimeout, ErrorCode::RequestTimeout);
    check(
        Http::ReinitializationFailed(rpc_error()),
        ErrorCode::StartupFailed,
    );
    check(Http::ControlRequestTimeout, ErrorCode::RequestTimeout);
}

#[tokio::test(start_paused = true)]
async fn an_elapsed_timer_is_a_request_timeout() {
    let elapsed = tokio::time::timeout(Duration::from_secs(1), std::future::pending::<()>())
        .await
        .unwrap_err();
    check(elapsed, ErrorCode::RequestTimeout);
}

#[test]
fn an_error_of_our_own_decides_or_leaves_it_to_its_source() {
    check(Startup(None), ErrorCode::StartupFailed);
    check(
        Startup(Some(ServiceError::TransportClosed)),
        ErrorCode::TransportClosed,
    );
    check(
        Startup(Some(sent(Oversized))),
        ErrorCode::UnexpectedResponse,
    );
}

#[test]
fn an_unregistered_http_client_costs_precision_but_not_authorization() {
    let expired = sent(Http::SessionExpired);
    assert_eq!(classify(&expired), ErrorCode::TransportError);
    let challenged = sent(Http::AuthRequired(AuthRequiredError::new("Bearer".into())));
    assert_eq!(classify(&challenged), ErrorCode::AuthRequired);
}

/// Never by text: what only reads like a known failure is not one.
#[test]
fn a_text_decides_nothing() {
    #[derive(Debug, thiserror::Error)]
    #[error("Transport closed: request_timeout")]
    struct Lookalike;

    assert_eq!(classify(&Lookalike), ErrorCode::Unknown);
}

#[test]
fn a_chain_that_leads_back_to_itself_ends() {
    #[derive(Debug)]
    struct Ouroboros;

    impl std::fmt::Display for Ouroboros {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("again")
        }
    }

    impl Error for Ouroboros {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            Some(self)
        }
    }

    assert_eq!(classify(&Ouroboros), ErrorCode::Unknown);
}
