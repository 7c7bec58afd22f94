//! A server behind a streamable HTTP endpoint.
//!
//! As on stdio, our own requests have their own ids and their own table, and their answers are taken from the body or
//! the event as it came (W1), and what the server asks is answered where it is read. An exchange runs in the future of whoever asks:
//! dropping it closes its stream, and its deadline is the caller's. What the protocol owes the server, answers and
//! cancellations, goes out by a task of its own, and so does the stream of what the server says unasked.

mod endpoint;
mod error;
mod exchange;
mod loss;
mod outgoing;
mod pause;
mod redaction;
mod routing;
mod session;
mod setup;
mod sse;
mod stream;
mod tls;

use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwapOption;
use bytes::Bytes;
use mcp_keys::McpServerKey;
use serde::Serialize;
use serde_json::value::RawValue;
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

pub use error::{Excerpt, HttpError};
pub(crate) use routing::{InvalidAnnotation, check as check_annotations};
pub use setup::HttpSetupError;
#[cfg(test)]
pub(super) use sse::{Event, EventBuffer};
pub(crate) use tls::Tls;

use super::ToolCall;
use super::codec;
use super::disconnect::Disconnect;
use super::dispatch::Dispatch;
use super::elicitations::Interaction;
use super::handshake::{ServerFacts, SpokenEra};
use super::in_flight::InFlight;
use super::notice::Notices;
use super::outbox::Outbox;
use super::pending::Pending;
use super::request::{RequestError, RequestErrorKind};
use super::server_request::Inlet;
use crate::config::HttpTransport;
use crate::deadline::Deadline;
use endpoint::Endpoint;
use session::Session;

/// How long the end of a session may take (R11).
const GOODBYE_TIMEOUT: Duration = Duration::from_secs(2);

/// The way to one endpoint.
#[derive(Debug)]
pub(crate) struct HttpLink {
    shared: Arc<Shared>,
}

/// What the tasks and futures of one connection have in common.
#[derive(Debug)]
struct Shared {
    endpoint: Endpoint,
    era: SpokenEra,
    session: Session,
    pending: Arc<Pending>,
    dispatch: Dispatch,
    outbox: Arc<Outbox>,
    /// What begins a session.
    greeting: Box<RawValue>,
    /// What the endpoint said of itself when it last began a session in place of a lost one.
    renewed: ArcSwapOption<ServerFacts>,
    closed: CancellationToken,
}

/// A request, ready to be sent.
struct Message {
    method: &'static str,
    body: Bytes,
    headers: http::HeaderMap,
}

impl HttpLink {
    /// Sets the client up and starts what talks to the endpoint. Nothing has been sent yet.
    pub(crate) fn start(
        key: &McpServerKey,
        transport: &HttpTransport,
        tls: &Tls,
        era: SpokenEra,
        notices: Notices,
        interaction: Interaction,
        greeting: Box<RawValue>,
    ) -> Result<Self, HttpSetupError> {
        let endpoint = setup::endpoint(transport, tls)?;
        let pending = Pending::new();
        let outbox = Arc::new(Outbox::default());
        let closed = CancellationToken::new();
        let inlet = Inlet::new(key, interaction, &outbox, &closed);
        let shared = Arc::new(Shared {
            endpoint,
            era,
            session: Session::default(),
            dispatch: Dispatch::new(key.clone(), pending.clone(), notices, inlet),
            pending,
            outbox,
            greeting,
            renewed: ArcSwapOption::empty(),
            closed,
        });
        tokio::spawn(outgoing::send_owed(shared.clone()));
        Ok(Self { shared })
    }

    /// Sends a request and waits for its result until the deadline.
    pub(crate) async fn request<P: Serialize>(
        &self,
        method: &'static str,
        params: impl FnOnce(u64) -> P,
        call: Option<ToolCall<'_>>,
        deadline: &Deadline,
    ) -> Result<Box<RawValue>, RequestError> {
        if deadline.has_passed() {
            return Err(RequestError::new(method, deadline.elapsed()));
        }
        let (message, in_flight) = self.shared.message(method, params, call)?;
        let exchange = self.shared.exchange(message, in_flight, None);
        let answer = deadline.bound(exchange).await;
        answer.map_err(|elapsed| RequestError::new(method, elapsed))?
    }

    /// Opens a request that is answered when it is over, and waits until the endpoint has taken it.
    pub(crate) async fn open<P: Serialize>(
        &self,
        method: &'static str,
        params: P,
        deadline: &Deadline,
    ) -> Result<AbortOnDropHandle<Result<Box<RawValue>, RequestError>>, RequestError> {
        let (message, in_flight) = self.shared.message(method, |_| params, None)?;
        let (taken, is_taken) = oneshot::channel();
        let shared = self.shared.clone();
        let exchange = async move { shared.exchange(message, in_flight, Some(taken)).await };
        let exchange = AbortOnDropHandle::new(tokio::spawn(exchange));
        // Whether it was taken or is over already, its result says.
        let opening = deadline.bound(is_taken).await;
        opening
            .map_err(|elapsed| RequestError::new(method, elapsed))?
            .ok();
        Ok(exchange)
    }

    /// Sends a notification. Half of what is left until the deadline is kept for what comes after it.
    pub(crate) async fn notify(
        &self,
        method: &'static str,
        deadline: &Deadline,
    ) -> Result<(), RequestError> {
        self.shared.notify(method, deadline.remaining() / 2).await
    }

    /// The version was agreed on.
    pub(crate) fn agreed(&self, version: &str) {
        self.shared.session.agreed(version);
    }

    /// What the endpoint says of itself since it has lost a session.
    pub(crate) fn renewed_facts(&self) -> Option<Arc<ServerFacts>> {
        self.shared.renewed.load_full()
    }

    /// Listens to what the endpoint says unasked, where the era has a stream for that.
    pub(crate) fn listen(&self) {
        if self.shared.era == SpokenEra::Legacy {
            tokio::spawn(stream::listen(self.shared.clone()));
        }
    }

    pub(crate) async fn closed(&self) -> Arc<Disconnect> {
        self.shared.closed.cancelled().await;
        Arc::new(Disconnect::local())
    }

    /// Ends the session, politely for as long as that takes little time.
    pub(crate) async fn close(&self) {
        self.abandon();
        self.shared.say_goodbye().await;
    }

    /// Ends the connection without waiting for anything.
    pub(crate) fn abandon(&self) {
        self.shared.closed.cancel();
        self.shared.pending.close(&Arc::new(Disconnect::local()));
        self.shared.outbox.close();
    }
}

impl Drop for HttpLink {
    fn drop(&mut self) {
        self.abandon();
        // Outside of an executor there is nobody to wait for it.
        if let Ok(executor) = Handle::try_current() {
            let shared = self.shared.clone();
            executor.spawn(async move { shared.say_goodbye().await });
        }
    }
}

impl Shared {
    /// A request with its place among those that wait.
    fn message<P: Serialize>(
        &self,
        method: &'static str,
        params: impl FnOnce(u64) -> P,
        call: Option<ToolCall<'_>>,
    ) -> Result<(Message, InFlight), RequestError> {
        let fail = |kind: RequestErrorKind| RequestError::new(method, kind);
        let waiting = self.pending.register(call.map(|call| call.id));
        let waiting = waiting.map_err(|why| fail(RequestErrorKind::Closed(why)))?;
        let body = codec::encode_request(waiting.id(), method, Some(params(waiting.id())));
        let body = body.map_err(|error| fail(RequestErrorKind::Encode(error)))?;
        let headers = match self.era {
            SpokenEra::Legacy => http::HeaderMap::new(),
            SpokenEra::Modern => routing::headers(method, &body, call.map(|call| call.definition)),
        };
        // In the modern era, closing the stream is what cancels.
        let outbox = (self.era == SpokenEra::Legacy).then(|| self.outbox.clone());
        let message = Message {
            method,
            body: body.into(),
            headers,
        };
        Ok((message, InFlight::new(method, waiting, outbox)))
    }

    /// An endpoint that forgets its sessions by itself need not be told, so whatever it answers is fine.
    async fn say_goodbye(&self) {
        if let Some(headers) = self.session.end() {
            self.delete(headers).await;
        }
    }

    /// Ends the session that these headers name.
    async fn delete(&self, headers: http::HeaderMap) {
        let deleting = self.endpoint.delete(headers);
        match timeout(GOODBYE_TIMEOUT, deleting).await {
            Ok(Ok(status)) => tracing::debug!(%status, "the session was ended"),
            Ok(Err(error)) => tracing::debug!(%error, "the session could not be ended"),
            Err(_) => tracing::debug!("the session was not ended in time"),
        }
    }
}
