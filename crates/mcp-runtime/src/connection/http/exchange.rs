//! One request, and whatever comes of it until its answer is there.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::FutureExt;
use http::HeaderMap;
use serde_json::value::RawValue;
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::endpoint::{Body, Unanswered};
use super::error::HttpError;
use super::session::Stamp;
use super::{Message, Shared};
use crate::connection::codec::{self, Inbound, Malformed, Reply, RpcError};
use crate::connection::disconnect::Disconnect;
use crate::connection::handshake::{HandshakeError, INITIALIZE, INITIALIZED, ServerFacts};
use crate::connection::in_flight::InFlight;
use crate::connection::request::{RequestError, RequestErrorKind};
use crate::deadline::Deadline;

/// How long the beginning of a new session may take.
const RENEWAL_TIMEOUT: Duration = Duration::from_secs(30);
/// How long a notification may take to be taken.
const NOTICE_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a notification may hold up what follows it.
const PATIENCE: Duration = Duration::from_secs(1);

impl Shared {
    /// Sends a request and waits for its result. `taken` is told when the endpoint begins to answer.
    pub(super) async fn exchange(
        self: &Arc<Self>,
        message: Message,
        mut in_flight: InFlight,
        taken: Option<oneshot::Sender<()>>,
    ) -> Result<Box<RawValue>, RequestError> {
        let (method, id) = (message.method, in_flight.id());
        // Boxed: the futures of an HTTP client are large.
        let answering = Box::pin(async {
            let body = self.post(&message, id).await?;
            // Nobody may be waiting for that.
            let _ = taken.map(|taken| taken.send(()));
            self.receive(id, body).await
        });
        let answering = tokio::select! {
            biased;
            // Whichever stream it came on.
            result = in_flight.result() => return result,
            ended = answering => ended,
        };
        match answering {
            Ok(()) => in_flight.result().await,
            Err(kind) => {
                let at_work = matches!(&kind, RequestErrorKind::Http(error) if error.leaves_work());
                if !at_work {
                    in_flight.forget();
                }
                Err(RequestError::new(method, kind))
            }
        }
    }

    /// Sends a request in the session. A lost one is begun again, once, and what was refused unread is sent once more
    /// (R10).
    async fn post(self: &Arc<Self>, message: &Message, id: u64) -> Result<Body, RequestErrorKind> {
        let stamp = self.session.settled().await;
        let body = self.post_as(message, &stamp).await?;
        match body {
            Body::Refused(refusal) if self.is_lost(&stamp, &refusal, Some(id)).await => {
                self.renew(&stamp).await?;
                self.post_as(message, &self.session.settled().await).await
            }
            body => Ok(body),
        }
    }

    pub(super) async fn post_as(
        &self,
        message: &Message,
        stamp: &Stamp,
    ) -> Result<Body, RequestErrorKind> {
        let mut headers = stamp.headers.clone();
        headers.extend(message.headers.clone());
        let answer = self.endpoint.post(message.body.clone(), headers).await?;
        if message.method == INITIALIZE && !matches!(answer.body, Body::Refused(_)) {
            self.session.opened(answer.session);
        }
        Ok(answer.body)
    }

    /// Waits for the answer to be in the table, or says why it will not come.
    async fn receive(self: &Arc<Self>, id: u64, body: Body) -> Result<(), RequestErrorKind> {
        match body {
            // It may come on the stream of what the endpoint says unasked; the deadline is the caller's.
            Body::Accepted => std::future::pending().await,
            Body::Json(message) => self.answer(id, &message),
            Body::Events(response) => self.events(id, response).await,
            Body::Refused(refusal) => {
                let error = self.endpoint.explain(&refusal);
                match rpc_error(&self.endpoint.without_secrets(&refusal.body)) {
                    // Who is not let in was not heard, whatever the body says.
                    Some(rpc) if !matches!(error, HttpError::Unauthorized { .. }) => {
                        self.dispatch.reply(id, Reply::Error(rpc));
                        Ok(())
                    }
                    _ => Err(RequestErrorKind::Http(error)),
                }
            }
        }
    }

    /// A whole body answers the request it came for.
    fn answer(&self, id: u64, message: &[u8]) -> Result<(), RequestErrorKind> {
        let read = self.dispatch.message(message, Some(id));
        match (self.pending.waits(id), read) {
            // Whatever came with it.
            (false, _) => Ok(()),
            (true, Ok(())) => Err(HttpError::NotAnAnswer.into()),
            (true, Err(_)) => Err(Malformed::NotJson.into()),
        }
    }

    /// Begins a new session in place of the one of `lost`, unless somebody has.
    pub(super) async fn renew(self: &Arc<Self>, lost: &Stamp) -> Result<(), RequestErrorKind> {
        let renewal = self.session.renewal(lost, || {
            // A task of its own: a caller that gives up leaves no session half begun behind.
            let renewing = tokio::spawn(self.clone().renewing(lost.clone()));
            let gone = || Err(Arc::new(RequestError::new(INITIALIZE, gone())));
            let renewing = renewing.map(move |ended| ended.unwrap_or_else(|_panicked| gone()));
            renewing.boxed()
        });
        match renewal {
            Some(renewal) => {
                let renewed = renewal.await;
                renewed.map_err(|error| HttpError::SessionLost(error).into())
            }
            None => Ok(()),
        }
    }

    async fn renewing(self: Arc<Self>, lost: Stamp) -> Result<(), Arc<RequestError>> {
        let deadline = Deadline::after(RENEWAL_TIMEOUT);
        let begun = tokio::select! {
            biased;
            () = self.closed.cancelled() => Err(RequestError::new(INITIALIZE, gone())),
            begun = deadline.bound(Box::pin(self.begin_again())) => match begun {
                Ok(begun) => begun,
                Err(elapsed) => Err(RequestError::new(INITIALIZE, elapsed)),
            },
        };
        let in_vain = self.session.renewed(begun.is_ok(), &lost);
        if let Some(headers) = in_vain {
            self.let_go(headers);
        }
        begun.map_err(Arc::new)
    }

    /// Ends a session that nobody uses. Nobody waits for that.
    fn let_go(self: &Arc<Self>, session: HeaderMap) {
        let shared = self.clone();
        tokio::spawn(async move { shared.delete(session).await });
    }

    async fn begin_again(self: &Arc<Self>) -> Result<(), RequestError> {
        let (message, mut in_flight) = self.message(INITIALIZE, |_| &self.greeting, None)?;
        let body = self.post_as(&message, &Stamp::none()).await;
        let fail = |kind| RequestError::new(INITIALIZE, kind);
        let answering = async { self.receive(in_flight.id(), body?).await };
        answering.await.map_err(fail)?;
        let result = in_flight.result().await?;
        let facts = ServerFacts::of_greeting(&result).map_err(|error| match error {
            HandshakeError::Request(error) => error,
            HandshakeError::Version(version) => fail(version.into()),
        })?;
        self.session.agreed(&facts.protocol_version);
        self.renewed.store(Some(Arc::new(facts)));
        self.notify(INITIALIZED, PATIENCE).await?;
        tracing::info!("the endpoint had lost the session; a new one was begun");
        // Another process may offer other tools.
        self.dispatch.owe_refresh();
        Ok(())
    }

    /// Sends a notification. An endpoint that does not take it says so when it is asked something; one that takes its
    /// time over it holds nobody up for longer than `patience`.
    pub(super) async fn notify(
        self: &Arc<Self>,
        method: &'static str,
        patience: Duration,
    ) -> Result<(), RequestError> {
        let body = codec::encode_notification::<()>(method, None);
        let body =
            body.map_err(|error| RequestError::new(method, RequestErrorKind::Encode(error)))?;
        let sending = tokio::spawn(self.clone().send_notice(method, body.into()));
        // What is left of it goes on by itself.
        let _ = timeout(patience.min(PATIENCE), sending).await;
        Ok(())
    }

    async fn send_notice(self: Arc<Self>, method: &'static str, body: Bytes) {
        let headers = self.session.stamp().headers;
        let posting = timeout(NOTICE_TIMEOUT, self.endpoint.post(body, headers));
        let posted = tokio::select! {
            () = self.closed.cancelled() => return,
            posted = posting => posted,
        };
        match posted {
            Ok(Ok(answer)) => {
                if let Body::Refused(refusal) = answer.body {
                    let error = self.endpoint.explain(&refusal);
                    tracing::warn!(method, %error, "a notification was not taken");
                }
            }
            Ok(Err(Unanswered::Http(error @ HttpError::Exchange(_)))) => {
                tracing::warn!(method, %error, "a notification could not be sent");
            }
            // Nothing in an answer to a notification matters.
            Ok(Err(_)) => {}
            Err(_) => tracing::warn!(method, "a notification was not taken in time"),
        }
    }
}

/// The connection was closed by this side.
fn gone() -> RequestErrorKind {
    RequestErrorKind::Closed(Arc::new(Disconnect::local()))
}

impl From<Unanswered> for RequestErrorKind {
    fn from(why: Unanswered) -> Self {
        match why {
            Unanswered::Http(error) => Self::Http(error),
            Unanswered::Malformed(why) => Self::Malformed(why),
        }
    }
}

/// The JSON-RPC error in a body, whichever request it says it is for.
pub(super) fn rpc_error(body: &[u8]) -> Option<RpcError> {
    match codec::decode(body) {
        Ok(
            Inbound::Reply {
                reply: Reply::Error(error),
                ..
            }
            | Inbound::Stray(Reply::Error(error)),
        ) => Some(error),
        _ => None,
    }
}
