//! Reading event streams: those that answer a request, and the one on which the endpoint speaks unasked.

use std::sync::Arc;
use std::time::Duration;

use http::HeaderValue;
use reqwest::Response;
use tokio::time::{Instant, sleep, timeout};

use super::Shared;
use super::endpoint::{BODY_LIMIT, LAST_EVENT_ID, Offer, exchange};
use super::error::HttpError;
use super::pause::Pause;
use super::session::Stamp;
use super::sse::{Event, EventBuffer};
use crate::connection::codec::{self, Inbound, Malformed};
use crate::connection::request::RequestErrorKind;

/// How long the end of a stream is waited for once its answer is there, so that its connection can be used again.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(500);

impl Shared {
    /// Reads the stream that answers a request until the answer is in the table. One that breaks is resumed where the
    /// endpoint has said how.
    pub(super) async fn events(
        self: &Arc<Self>,
        id: u64,
        mut response: Response,
    ) -> Result<(), RequestErrorKind> {
        let mut events = EventBuffer::new(BODY_LIMIT);
        let mut pause = Pause::default();
        loop {
            let place = events.last_event_id().map(ToOwned::to_owned);
            let broken = self.read(&mut response, &mut events, Some(id)).await;
            if !self.pending.waits(id) {
                self.drain(response);
                return Ok(());
            }
            if events.last_event_id() != place.as_deref() {
                pause.reset();
            }
            let Some(resume) = resumption(&events) else {
                return Err(broken.err().unwrap_or(HttpError::StreamEnded).into());
            };
            response = self.resumed(&resume, &events, &mut pause).await?;
            events.reopen();
        }
    }

    /// The stream that goes on behind this event, however long the endpoint is not to be reached.
    async fn resumed(
        &self,
        resume: &HeaderValue,
        events: &EventBuffer,
        pause: &mut Pause,
    ) -> Result<Response, HttpError> {
        let mut asked = events.retry();
        loop {
            sleep(pause.next(asked)).await;
            let mut headers = self.session.stamp().headers;
            headers.insert(LAST_EVENT_ID, resume.clone());
            match self.endpoint.get(headers).await {
                Ok(Offer::Events(response)) => return Ok(response),
                Ok(Offer::Refused(refusal)) if refusal.may_pass() => {
                    asked = events.retry().max(refusal.retry_after());
                }
                Ok(Offer::Refused(refusal)) => {
                    return Err(match self.endpoint.explain(&refusal) {
                        error @ HttpError::Unauthorized { .. } => error,
                        _ => HttpError::StreamEnded,
                    });
                }
                Err(error) => tracing::debug!(%error, "the stream cannot be resumed yet"),
            }
        }
    }

    /// Reads until the stream ends, breaks, or has brought the answer.
    async fn read(
        &self,
        response: &mut Response,
        events: &mut EventBuffer,
        id: Option<u64>,
    ) -> Result<(), HttpError> {
        while let Some(chunk) = response.chunk().await.map_err(exchange)? {
            events.feed(&chunk, |event| self.event(&event, id));
            if id.is_some_and(|id| !self.pending.waits(id)) {
                return Ok(());
            }
        }
        // By the book, what was not ended never was. An answer that is whole is taken all the same; whatever else would be
        // taken again when the stream is resumed.
        events.finish(|event| {
            if matches!(&event, Event::Message(message) if is_reply(message)) {
                self.event(&event, id);
            }
        });
        Ok(())
    }

    fn event(&self, event: &Event<'_>, id: Option<u64>) {
        match event {
            Event::Message(message) => {
                if self.dispatch.message(message, id).is_err() {
                    tracing::debug!("an event that is no JSON-RPC message");
                }
            }
            Event::TooLong { is_call: true, .. } => {
                tracing::debug!("an event that is too long");
            }
            Event::TooLong {
                length, id: own, ..
            } => {
                let limit = BODY_LIMIT;
                let length = *length;
                self.dispatch
                    .broken(own.or(id), Malformed::TooLong { length, limit });
            }
        }
    }

    /// Reads what is left of a stream that has done its work.
    fn drain(&self, mut response: Response) {
        let closed = self.closed.clone();
        tokio::spawn(async move {
            let draining = async { while let Ok(Some(_)) = response.chunk().await {} };
            tokio::select! {
                () = closed.cancelled() => {}
                _ = timeout(DRAIN_TIMEOUT, draining) => {}
            }
        });
    }
}

/// Reads what the endpoint says unasked, in one session after the other, until the connection is over.
pub(super) async fn listen(shared: Arc<Shared>) {
    let closed = shared.closed.clone();
    let listening = async {
        let mut pause = Pause::default();
        loop {
            let session = shared.session.settled().await;
            tokio::select! {
                () = session.over() => {}
                () = listen_in(&session, &shared, &mut pause) => {}
            }
        }
    };
    tokio::select! {
        () = closed.cancelled() => {}
        () = listening => {}
    }
}

/// Listens until the session is over. Where the endpoint offers no stream, there is nothing but that to wait for.
async fn listen_in(session: &Stamp, shared: &Arc<Shared>, pause: &mut Pause) {
    let mut events = EventBuffer::new(BODY_LIMIT);
    let mut offered = false;
    loop {
        let mut headers = session.headers.clone();
        headers.extend(resumption(&events).map(|resume| (LAST_EVENT_ID, resume)));
        let begun = Instant::now();
        let mut asked = None;
        match shared.endpoint.get(headers).await {
            Ok(Offer::Events(mut response)) => {
                offered = true;
                events.reopen();
                let ended = shared.read(&mut response, &mut events, None).await;
                tracing::debug!(?ended, "the stream of announcements ended");
            }
            Ok(Offer::Refused(refusal)) if refusal.may_pass() => asked = refusal.retry_after(),
            // It was known before.
            Ok(Offer::Refused(refusal))
                if offered && shared.is_lost(session, &refusal, None).await =>
            {
                if let Err(error) = shared.renew(session).await {
                    tracing::debug!(%error, "the session of the stream of announcements is lost");
                }
            }
            Ok(Offer::Refused(_)) => return session.over().await,
            Err(error) => tracing::debug!(%error, "no stream of announcements yet"),
        }
        let wait = pause.next(asked.max(events.retry()));
        sleep(wait).await;
        if begun.elapsed() > wait * 2 {
            // It was there for longer than not.
            pause.reset();
        }
    }
}

/// Whether a message answers something.
fn is_reply(message: &[u8]) -> bool {
    matches!(
        codec::decode(message),
        Ok(Inbound::Reply { .. } | Inbound::Stray(_))
    )
}

/// The header that says where to go on; `None` when the server has not said how.
fn resumption(events: &EventBuffer) -> Option<HeaderValue> {
    let id = events.last_event_id().filter(|id| !id.is_empty())?;
    HeaderValue::from_str(id).ok()
}
