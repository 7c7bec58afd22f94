//! A server behind a streamable HTTP endpoint, through rmcp's transport.
//!
//! rmcp owns sessions, headers, event streams and resumption. Requests go through its `Peer` under our own deadlines;
//! answers pass rmcp's message types on the way and are written back to JSON from there.

mod client;
mod setup;
mod tls;

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use dashmap::DashMap;
use futures_util::FutureExt;
use rmcp::RoleClient;
use rmcp::model::{
    CancelledNotification, CancelledNotificationParam, ClientNotification, ClientRequest,
    CustomRequest, Implementation, RequestId, SubscriptionFilter,
};
use rmcp::service::{
    ClientInitializeError, Peer, PeerRequestOptions, RequestHandle, RunningService, ServiceError,
    Subscription,
};
use serde::Serialize;
use serde_json::value::RawValue;
use tokio::runtime::Handle;
use tokio::time::sleep;
use tokio_util::sync::{CancellationToken, DropGuard};

pub use setup::HttpSetupError;
pub(crate) use tls::Tls;

use super::disconnect::Disconnect;
use super::handshake::SpokenEra;
use super::notice::Notices;
use super::request::{RequestError, RequestErrorKind};
use super::server_request::{ProgressTokens, ServerRequests};
use crate::call::CallId;
use crate::config::HttpTransport;
use crate::deadline::{Deadline, Elapsed};
use setup::HttpSetup;

/// How long rmcp may take to end its session when a connection is closed.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);
/// How long it may take when nobody waits for it.
const GOODBYE_TIMEOUT: Duration = Duration::from_secs(4);

/// The way to one endpoint.
pub(crate) struct HttpLink {
    peer: Peer<RoleClient>,
    tokens: Arc<Tokens>,
    closed: CancellationToken,
    service: Mutex<Option<RunningService<RoleClient, ServerRequests>>>,
    /// Ends what is still under way when it is dropped.
    ending: Option<DropGuard>,
}

/// Why there is no connection.
#[derive(Debug)]
pub(crate) enum HttpConnectError {
    Setup(HttpSetupError),
    Initialize(Box<ClientInitializeError>),
    Timeout(Elapsed),
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

impl HttpLink {
    /// Connects and shakes hands before the deadline.
    pub(crate) async fn connect(
        transport: &HttpTransport,
        tls: &Tls,
        client: Implementation,
        notices: Notices,
        era: SpokenEra,
        deadline: &Deadline,
    ) -> Result<Self, HttpConnectError> {
        let setup = HttpSetup::new(transport, tls).map_err(HttpConnectError::Setup)?;
        let connecting = deadline.bound(setup.connect(client, notices, era)).await;
        let connected = connecting.map_err(HttpConnectError::Timeout)?;
        connected.map_err(|error| HttpConnectError::Initialize(Box::new(error)))
    }

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
        let answer = deadline.bound(async {
            tokio::select! {
                answer = handle.await_response() => Some(answer),
                // rmcp would answer only after it has drained and said goodbye.
                () = self.closed.cancelled() => None,
            }
        });
        let answer = answer.await.map_err(|elapsed| fail(elapsed.into()))?;
        let Some(answer) = answer else {
            return Err(fail(RequestErrorKind::Closed(
                Arc::new(Disconnect::local()),
            )));
        };
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
            ServiceError::TransportClosed if self.closed.is_cancelled() => {
                RequestErrorKind::Closed(Arc::new(Disconnect::local()))
            }
            error => RequestErrorKind::of_peer(error),
        }
    }
}

impl fmt::Debug for HttpLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpLink").finish_non_exhaustive()
    }
}

impl Drop for HttpLink {
    fn drop(&mut self) {
        self.closed.cancel();
        // rmcp says goodbye by itself; outside of an executor there is nobody to wait for it.
        if let (Ok(executor), Some(ending)) = (Handle::try_current(), self.ending.take()) {
            executor.spawn(async move {
                sleep(GOODBYE_TIMEOUT).await;
                drop(ending);
            });
        }
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
