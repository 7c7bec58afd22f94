//! A server behind a streamable HTTP endpoint, through rmcp's transport.
//!
//! rmcp owns sessions, headers, event streams and resumption. Requests go through its `Peer` under our own deadlines;
//! answers pass rmcp's message types on the way and are written back to JSON from there.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use dashmap::DashMap;
use futures_util::FutureExt;
use http::header::AUTHORIZATION;
use http::{HeaderName, HeaderValue};
use rmcp::RoleClient;
use rmcp::model::{
    CancelledNotification, CancelledNotificationParam, ClientNotification, ClientRequest,
    CustomRequest, RequestId, SubscriptionFilter,
};
use rmcp::service::{
    ClientCacheConfig, ClientInitializeError, ClientLifecycleMode, Peer, PeerRequestOptions,
    RequestHandle, RunningService, ServiceError, Subscription, serve_client_with_lifecycle_and_ct,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rustls_platform_verifier::BuilderVerifierExt;
use serde::Serialize;
use serde_json::value::RawValue;
use tokio_util::sync::CancellationToken;

use super::codec::RpcError;
use super::disconnect::Disconnect;
use super::handshake::{MODERN, SpokenEra};
use super::notice::Notices;
use super::request::{RequestError, RequestErrorKind};
use super::server_request::{ProgressTokens, ServerRequests};
use crate::call::CallId;
use crate::config::HttpTransport;
use crate::deadline::Deadline;

/// How long a TCP and TLS connection may take to open.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// How long rmcp may take to end its session when a connection is closed.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);
/// Redirects followed for one request.
const MAX_REDIRECTS: usize = 10;

/// Why no HTTP connection could be made, before the server was asked anything.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HttpSetupError {
    /// The variable that holds the bearer token is not set.
    #[error(
        "environment variable `{variable}` for the bearer token is not set; set it, or remove `bearer_token_env_var`"
    )]
    NoToken {
        /// The configured variable.
        variable: String,
    },
    /// The bearer token cannot be sent. It is not shown.
    #[error(
        "the bearer token in environment variable `{variable}` has characters that HTTP does not allow"
    )]
    BadToken {
        /// The configured variable.
        variable: String,
    },
    /// The same header is configured twice.
    #[error("header `{name}` is configured twice")]
    Twice {
        /// The header.
        name: HeaderName,
    },
    /// The system's trust store cannot be used.
    #[error("TLS could not be set up")]
    Tls(#[source] rustls::Error),
    /// The HTTP client cannot be built.
    #[error("the HTTP client could not be set up")]
    Client(#[source] reqwest::Error),
}

/// The way to one endpoint.
#[derive(Debug)]
pub(crate) struct HttpLink {
    peer: Peer<RoleClient>,
    tokens: Arc<Tokens>,
    closed: CancellationToken,
    service: Mutex<Option<RunningService<RoleClient, ServerRequests>>>,
}

/// rmcp gives out progress tokens of its own; this remembers whose they are.
#[derive(Debug, Default)]
struct Tokens {
    calls: DashMap<String, CallId>,
}

impl ProgressTokens for Tokens {
    fn call(&self, token: &RawValue) -> Option<CallId> {
        Some(*self.calls.get(token.get())?)
    }
}

/// A client that can be asked to connect.
pub(crate) struct HttpSetup {
    client: reqwest::Client,
    config: StreamableHttpClientTransportConfig,
}

impl HttpSetup {
    pub(crate) fn new(transport: &HttpTransport) -> Result<Self, HttpSetupError> {
        let headers = headers(transport)?;
        let config = StreamableHttpClientTransportConfig::with_uri(transport.url.as_str())
            .custom_headers(headers);
        Ok(Self {
            client: client()?,
            config,
        })
    }

    /// Connects and shakes hands. The caller bounds the time.
    pub(crate) async fn connect(
        self,
        client: rmcp::model::Implementation,
        notices: Notices,
        era: SpokenEra,
    ) -> Result<HttpLink, ClientInitializeError> {
        let tokens = Arc::new(Tokens::default());
        let handler = ServerRequests::with_notices(client, notices, tokens.clone());
        let closed = CancellationToken::new();
        let transport = StreamableHttpClientTransport::with_client(self.client, self.config);
        let lifecycle = match era {
            SpokenEra::Legacy => ClientLifecycleMode::Initialize,
            SpokenEra::Modern => ClientLifecycleMode::Discover {
                preferred_versions: vec![MODERN],
            },
        };
        // A child token, so that one service ending cancels nothing but itself.
        let token = closed.child_token();
        let service =
            serve_client_with_lifecycle_and_ct(handler, transport, lifecycle, token).await?;
        // Catalogs are kept here, with revisions; a cache below could bring an old listing back.
        service
            .peer()
            .set_response_cache_config(ClientCacheConfig::disabled())
            .await;
        Ok(HttpLink {
            peer: service.peer().clone(),
            tokens,
            closed,
            service: Mutex::new(Some(service)),
        })
    }
}

impl HttpLink {
    pub(crate) fn peer(&self) -> &Peer<RoleClient> {
        &self.peer
    }

    /// Sends a request and waits for its result until the deadline.
    pub(crate) async fn request<P: Serialize>(
        &self,
        method: &'static str,
        params: P,
        call: Option<CallId>,
        deadline: &Deadline,
    ) -> Result<Box<RawValue>, RequestError> {
        let fail = |kind: RequestErrorKind| RequestError::new(method, kind);
        let params =
            serde_json::to_value(params).map_err(|error| fail(RequestErrorKind::Encode(error)))?;
        let request = ClientRequest::CustomRequest(CustomRequest::new(method, Some(params)));
        let sending = self
            .peer
            .send_cancellable_request(request, PeerRequestOptions::no_options());
        let handle = deadline
            .bound(sending)
            .await
            .map_err(|elapsed| fail(elapsed.into()))?;
        let handle = handle.map_err(|error| fail(self.failure(error)))?;
        let mut guard = InFlight::new(self, &handle, call);
        let answer = deadline
            .bound(handle.await_response())
            .await
            .map_err(|elapsed| fail(elapsed.into()))?;
        guard.answered = true;
        let answer = answer.map_err(|error| fail(self.failure(error)))?;
        serde_json::value::to_raw_value(&answer)
            .map_err(|error| fail(RequestErrorKind::Unexpected(error)))
    }

    /// Opens a subscription and waits for its acknowledgement until the deadline.
    pub(crate) async fn listen(
        &self,
        method: &'static str,
        filter: SubscriptionFilter,
        deadline: &Deadline,
    ) -> Result<Subscription, RequestError> {
        let listening = deadline.bound(self.peer.listen(filter)).await;
        let listening = listening.map_err(|elapsed| RequestError::new(method, elapsed))?;
        listening.map_err(|error| RequestError::new(method, self.failure(error)))
    }

    pub(crate) async fn closed(&self) -> Arc<Disconnect> {
        self.closed.cancelled().await;
        Arc::new(Disconnect::local())
    }

    /// Ends the session, politely for as long as that takes no time.
    pub(crate) async fn close(&self) {
        let service = self
            .service
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        self.closed.cancel();
        if let Some(mut service) = service {
            // What is not over by then is dropped with the service.
            let _ = service.close_with_timeout(CLOSE_TIMEOUT).await;
        }
    }

    /// Ends the session without waiting for anything.
    pub(crate) fn abandon(&self) {
        self.closed.cancel();
    }

    fn failure(&self, error: ServiceError) -> RequestErrorKind {
        match error {
            ServiceError::McpError(error) => RpcError::from(error).into(),
            ServiceError::TransportClosed if self.closed.is_cancelled() => {
                RequestErrorKind::Closed(Arc::new(Disconnect::local()))
            }
            ServiceError::TransportClosed => {
                RequestErrorKind::Closed(Arc::new(Disconnect::transport_stopped()))
            }
            error => RequestErrorKind::Http(error),
        }
    }
}

impl Drop for HttpLink {
    fn drop(&mut self) {
        self.closed.cancel();
    }
}

/// A request under way: tells the server when it is given up (B4), and forgets its progress token.
struct InFlight<'a> {
    link: &'a HttpLink,
    id: RequestId,
    token: Option<String>,
    answered: bool,
}

impl<'a> InFlight<'a> {
    fn new(link: &'a HttpLink, handle: &RequestHandle<RoleClient>, call: Option<CallId>) -> Self {
        let token = call.and_then(|call| {
            let token = serde_json::to_string(&handle.progress_token).ok()?;
            link.tokens.calls.insert(token.clone(), call);
            Some(token)
        });
        Self {
            link,
            id: handle.id.clone(),
            token,
            answered: false,
        }
    }
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        if let Some(token) = &self.token {
            self.link.tokens.calls.remove(token);
        }
        if self.answered {
            return;
        }
        let params = CancelledNotificationParam::new(
            Some(self.id.clone()),
            Some("the caller no longer waits".to_owned()),
        );
        let notice = ClientNotification::from(CancelledNotification::new(params));
        // One poll hands the notice to rmcp's queue; outside of a task budget, so that it cannot be put off.
        let _ = tokio::task::unconstrained(self.link.peer.send_notification(notice)).now_or_never();
    }
}

fn headers(transport: &HttpTransport) -> Result<HashMap<HeaderName, HeaderValue>, HttpSetupError> {
    let mut headers = HashMap::new();
    let mut add = |name: HeaderName, value: HeaderValue| match headers.insert(name.clone(), value) {
        None => Ok(()),
        Some(_) => Err(HttpSetupError::Twice { name }),
    };
    for (name, value) in &transport.headers {
        add(name.clone(), value.clone())?;
    }
    if let Some(variable) = &transport.bearer_token_env_var {
        let token = std::env::var(variable).map_err(|_unset| HttpSetupError::NoToken {
            variable: variable.clone(),
        })?;
        let value = HeaderValue::from_str(&format!("Bearer {token}"));
        let mut value = value.map_err(|_invalid| HttpSetupError::BadToken {
            variable: variable.clone(),
        })?;
        value.set_sensitive(true);
        add(AUTHORIZATION, value)?;
    }
    Ok(headers)
}

fn client() -> Result<reqwest::Client, HttpSetupError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(BuilderVerifierExt::with_platform_verifier)
        .map_err(HttpSetupError::Tls)?
        .with_no_client_auth();
    reqwest::Client::builder()
        .tls_backend_preconfigured(tls)
        .connect_timeout(CONNECT_TIMEOUT)
        .redirect(same_origin_only())
        .build()
        .map_err(HttpSetupError::Client)
}

/// Follows a redirect only to the origin it came from, with method and body: anything else would hand the request and
/// its credentials to somebody who was not configured, or lose its body (R4).
fn same_origin_only() -> reqwest::redirect::Policy {
    reqwest::redirect::Policy::custom(|attempt| {
        let keeps_method = matches!(attempt.status().as_u16(), 307 | 308);
        let same_origin = attempt
            .previous()
            .last()
            .is_some_and(|from| from.origin() == attempt.url().origin());
        if attempt.previous().len() > MAX_REDIRECTS {
            attempt.error("too many redirects")
        } else if keeps_method && same_origin {
            attempt.follow()
        } else {
            attempt.stop()
        }
    })
}
