//! One endpoint, and the three ways to ask it: POST, GET and DELETE.

use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use http::header::{
    ACCEPT, CONTENT_ENCODING, CONTENT_TYPE, LOCATION, RETRY_AFTER, WWW_AUTHENTICATE,
};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use reqwest::{RequestBuilder, Response};
use tokio::time::{Instant, timeout_at};
use url::Url;

use super::error::{Excerpt, HttpError};
use super::redaction::Redaction;
use super::sse::BYTE_ORDER_MARK;
use crate::connection::codec::Malformed;

pub(super) const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
pub(super) const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
const EVENT_STREAM: &str = "text/event-stream";
/// The largest answer that is no stream, in bytes (R7).
pub(super) const BODY_LIMIT: usize = 16 * 1024 * 1024;
/// What is read of a body that only explains a status.
const EXPLANATION_LIMIT: usize = 64 * 1024;
/// How long such a body may take.
const EXPLANATION_TIME: Duration = Duration::from_secs(1);

/// An endpoint and what is said to it with every request.
pub(super) struct Endpoint {
    client: reqwest::Client,
    url: Url,
    headers: HeaderMap,
    redaction: Redaction,
}

/// What a POST came to.
#[derive(Debug)]
pub(super) struct Answer {
    /// The session that the endpoint has opened with this answer.
    pub(super) session: Option<HeaderValue>,
    pub(super) body: Body,
}

/// The body of an answer.
#[derive(Debug)]
pub(super) enum Body {
    /// Taken, and nothing to say.
    Accepted,
    /// Something that should be a message.
    Json(Vec<u8>),
    /// Messages as they come.
    Events(Response),
    /// Not taken; the body may be a message that says why.
    Refused(Refusal),
}

/// A status that is no success.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) status: StatusCode,
    pub(super) body: Vec<u8>,
    challenge: Option<String>,
    location: Option<String>,
    retry_after: Option<Duration>,
}

/// What a GET came to.
#[derive(Debug)]
pub(super) enum Offer {
    /// Messages as they come.
    Events(Response),
    /// No stream of events.
    Refused(Refusal),
}

impl Refusal {
    pub(super) fn new(status: StatusCode, body: Vec<u8>) -> Self {
        Self {
            status,
            body,
            challenge: None,
            location: None,
            retry_after: None,
        }
    }

    /// Whether the same question may be answered later.
    pub(super) fn may_pass(&self) -> bool {
        self.status.is_server_error() || self.status == StatusCode::TOO_MANY_REQUESTS
    }

    /// How long the endpoint wants to be left alone.
    pub(super) fn retry_after(&self) -> Option<Duration> {
        self.retry_after
    }
}

/// Why there is no answer at all.
#[derive(Debug)]
pub(super) enum Unanswered {
    Http(HttpError),
    Malformed(Malformed),
}

impl From<HttpError> for Unanswered {
    fn from(error: HttpError) -> Self {
        Self::Http(error)
    }
}

impl Endpoint {
    pub(super) fn new(client: reqwest::Client, url: Url, headers: HeaderMap) -> Self {
        Self {
            client,
            redaction: Redaction::new(&url, &headers),
            url,
            headers,
        }
    }

    /// Sends one message.
    pub(super) async fn post(&self, body: Bytes, headers: HeaderMap) -> Result<Answer, Unanswered> {
        let request = self.client.post(self.url.clone());
        let request = request
            .header(ACCEPT, "application/json, text/event-stream")
            .header(CONTENT_TYPE, "application/json")
            .body(body);
        let response = self.send(request, headers).await?;
        let session = response.headers().get(SESSION_ID).cloned();
        let body = self.read(response).await?;
        Ok(Answer { session, body })
    }

    /// Asks for an event stream.
    pub(super) async fn get(&self, headers: HeaderMap) -> Result<Offer, HttpError> {
        let request = self
            .client
            .get(self.url.clone())
            .header(ACCEPT, EVENT_STREAM);
        let response = self.send(request, headers).await?;
        let is_stream = content_type(&response).is_some_and(|kind| kind == EVENT_STREAM);
        Ok(match response.status() {
            status if status.is_success() && is_stream => Offer::Events(response),
            status if status.is_success() => Offer::Refused(Refusal::new(status, Vec::new())),
            _ => Offer::Refused(refusal(response).await),
        })
    }

    /// Ends a session.
    pub(super) async fn delete(&self, headers: HeaderMap) -> Result<StatusCode, HttpError> {
        let response = self
            .send(self.client.delete(self.url.clone()), headers)
            .await?;
        Ok(response.status())
    }

    /// A body without what endpoints repeat of what they were asked with.
    pub(super) fn without_secrets(&self, body: &[u8]) -> Vec<u8> {
        self.redaction
            .of(String::from_utf8_lossy(body).into_owned())
            .into_bytes()
    }

    /// What a refusal means.
    pub(super) fn explain(&self, refusal: &Refusal) -> HttpError {
        let body = Excerpt::new(&refusal.body, &self.redaction);
        let status = refusal.status.as_u16();
        match refusal.status {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => HttpError::Unauthorized {
                status,
                challenge: refusal
                    .challenge
                    .clone()
                    .map(|text| self.redaction.of(text)),
                body,
            },
            redirection if redirection.is_redirection() && refusal.location.is_some() => {
                let location = refusal.location.as_deref().unwrap_or_default();
                let target = self.url.join(location).ok();
                let origin = target.map(|target| target.origin().ascii_serialization());
                HttpError::Redirect {
                    status,
                    origin: origin.unwrap_or_else(|| "nowhere".to_owned()),
                }
            }
            _ => HttpError::Status {
                status,
                retry_after: refusal.retry_after,
                body,
            },
        }
    }

    async fn send(
        &self,
        request: RequestBuilder,
        headers: HeaderMap,
    ) -> Result<Response, HttpError> {
        let sending = request
            .headers(self.headers.clone())
            .headers(headers)
            .send();
        sending.await.map_err(exchange)
    }

    async fn read(&self, response: Response) -> Result<Body, Unanswered> {
        let status = response.status();
        if !status.is_success() {
            return Ok(Body::Refused(refusal(response).await));
        }
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            return Ok(Body::Accepted);
        }
        let encoding = text(&response, &CONTENT_ENCODING).find(|encoding| {
            let encoding = encoding.trim();
            !encoding.is_empty() && !encoding.eq_ignore_ascii_case("identity")
        });
        if let Some(encoding) = encoding {
            let encoding = self.redaction.of(encoding.to_owned());
            return Err(HttpError::Encoding { encoding }.into());
        }
        let kind = content_type(&response);
        match kind.as_deref() {
            Some(EVENT_STREAM) => Ok(Body::Events(response)),
            // Some endpoints do not say that it is JSON, and it will show.
            None | Some("application/json" | "text/plain") => Ok(json(response).await?),
            Some(kind) if kind.ends_with("+json") => Ok(json(response).await?),
            Some(_) => {
                let body = read_some(response, EXPLANATION_LIMIT).await;
                Err(Unanswered::Http(HttpError::ContentType {
                    content_type: kind.map(|kind| self.redaction.of(kind)),
                    body: Excerpt::new(&body, &self.redaction),
                }))
            }
        }
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Paths, queries and headers may hold secrets.
        f.debug_struct("Endpoint")
            .field("origin", &self.url.origin().ascii_serialization())
            .finish_non_exhaustive()
    }
}

/// A failed exchange, without the URL that reqwest shows: its query may hold a key.
pub(super) fn exchange(error: reqwest::Error) -> HttpError {
    HttpError::Exchange(error.without_url())
}

/// The media type alone, in lower case.
fn content_type(response: &Response) -> Option<String> {
    let value = response.headers().get(CONTENT_TYPE)?.to_str().ok()?;
    let kind = value.split(';').next().unwrap_or_default().trim();
    (!kind.is_empty()).then(|| kind.to_ascii_lowercase())
}

async fn refusal(response: Response) -> Refusal {
    let location = text(&response, &LOCATION).next().map(ToOwned::to_owned);
    let challenges: Vec<_> = text(&response, &WWW_AUTHENTICATE).collect();
    let challenge = (!challenges.is_empty()).then(|| challenges.join(", "));
    // The other form is a date, and whose clock is right nobody knows.
    let seconds = text(&response, &RETRY_AFTER).find_map(|value| value.trim().parse().ok());
    let status = response.status();
    // A JSON-RPC error may come with any status, and is read whole.
    let limit = match content_type(&response) {
        Some(kind) if kind == "application/json" => BODY_LIMIT,
        _ => EXPLANATION_LIMIT,
    };
    let body = read_some(response, limit).await;
    Refusal {
        challenge,
        location,
        retry_after: seconds.map(Duration::from_secs),
        ..Refusal::new(status, body)
    }
}

/// The values of a header that are text.
fn text<'a>(response: &'a Response, name: &HeaderName) -> impl Iterator<Item = &'a str> {
    let values = response.headers().get_all(name).iter();
    values.filter_map(|value| value.to_str().ok())
}

async fn json(mut response: Response) -> Result<Body, Unanswered> {
    let limit = BODY_LIMIT;
    let too_long = |length| Unanswered::Malformed(Malformed::TooLong { length, limit });
    // Said in advance, it need not be waited for.
    let announced = response.content_length().unwrap_or_default();
    let announced = usize::try_from(announced).unwrap_or(usize::MAX);
    if announced > limit {
        return Err(too_long(announced));
    }
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(exchange)? {
        let length = body.len() + chunk.len();
        if length > limit {
            return Err(too_long(length));
        }
        body.extend_from_slice(&chunk);
    }
    if body.starts_with(BYTE_ORDER_MARK) {
        body.drain(..BYTE_ORDER_MARK.len());
    }
    Ok(Body::Json(body))
}

/// The beginning of a body, as far as it comes soon: its status has been said already.
async fn read_some(mut response: Response, limit: usize) -> Vec<u8> {
    let mut body = Vec::new();
    let soon = Instant::now() + EXPLANATION_TIME;
    while body.len() < limit {
        match timeout_at(soon, response.chunk()).await {
            Ok(Ok(Some(chunk))) => body.extend_from_slice(&chunk),
            Ok(Ok(None) | Err(_)) | Err(_) => break,
        }
    }
    body.truncate(limit);
    body
}
