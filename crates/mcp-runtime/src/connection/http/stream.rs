//! Reading event streams: those that answer a request, and the one on which the endpoint speaks unasked.

use std::sync::Arc;
use std::time::Duration;

use http::HeaderValue;
use reqwest::Response;
use tokio::time::{Instant, sleep, timeout};

use super::Shared;
use super::endpoint::{BODY_LIMIT, LAST_EVENT_ID, exchange};
use super::error::HttpError;
use super::session::Stamp;
use super::sse::{Event, EventBuffer};
use crate::connection::codec::Malformed;
use crate::connection::request::RequestErrorKind;

/// The pause before a stream is resumed, unless the server asks for another; doubled while nothing new comes.
const PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
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
        let mut pause = PAUSE;
        loop {
            let broken = self.read(&mut response, &mut events, Some(id)).await;
            if !self.pending.waits(id) {
                self.drain(response);
                return Ok(());
            }
            response = loop {
                let Some(resume) = resumption(&events) else {
                    return Err(broken.err().unwrap_or(HttpError::StreamEnded).into());
                };
                sleep(events.retry().unwrap_or(pause)).await;
                pause = (pause * 2).min(LONGEST_PAUSE);
                let mut headers = self.session.stamp().headers;
                headers.insert(LAST_EVENT_ID, resume);
                match self.endpoint.get(headers).await {
                    Ok(Some(response)) => break response,
                    Ok(None) => return Err(HttpError::StreamEnded.into()),
                    Err(error @ HttpError::Unauthorized { .. }) => return Err(error.into()),
                    Err(error) => tracing::debug!(%error, "the stream cannot be resumed yet"),
                }
            };
            events.reopen();
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
                break;
            }
        }
        Ok(())
    }

    fn event(&self, event: &Event<'_>, id: Option<u64>) {
        match event {
            Event::Message(message) => {
                if self.dispatch.message(message, id).is_err() {
                    tracing::debug!("an event that is no JSON-RPC message");
                }
            }
            Event::TooLong { length, id: own } => {
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

/// Reads what the endpoint says unasked, until it offers no stream for that, or the session or the connection is over.
pub(super) async fn listen(shared: Arc<Shared>) {
    let closed = shared.closed.clone();
    let session = shared.session.stamp();
    tokio::select! {
        () = closed.cancelled() => {}
        () = session.over() => {}
        () = listen_in(&session, &shared) => {}
    }
}

async fn listen_in(session: &Stamp, shared: &Shared) {
    let mut events = EventBuffer::new(BODY_LIMIT);
    let mut pause = PAUSE;
    loop {
        let mut headers = session.headers.clone();
        headers.extend(resumption(&events).map(|resume| (LAST_EVENT_ID, resume)));
        let begun = Instant::now();
        match shared.endpoint.get(headers).await {
            Ok(Some(mut response)) => {
                events.reopen();
                let ended = shared.read(&mut response, &mut events, None).await;
                tracing::debug!(?ended, "the stream of announcements ended");
            }
            Ok(None) => return,
            Err(HttpError::Unauthorized { .. }) => return,
            Err(error) => tracing::debug!(%error, "no stream of announcements yet"),
        }
        if begun.elapsed() > LONGEST_PAUSE {
            pause = PAUSE;
        }
        sleep(pause.max(events.retry().unwrap_or_default())).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// The header that says where to go on; `None` when the server has not said how.
fn resumption(events: &EventBuffer) -> Option<HeaderValue> {
    let id = events.last_event_id().filter(|id| !id.is_empty())?;
    HeaderValue::from_str(id).ok()
}
