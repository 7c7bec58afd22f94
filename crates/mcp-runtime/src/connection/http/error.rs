//! A request over HTTP that brought no message back.

use std::fmt;
use std::time::Duration;

use mcp_telemetry::{Classified, ErrorCode};

use super::redaction::Redaction;

/// The characters of a body that are shown.
const SHOWN: usize = 300;

/// What an endpoint did instead of answering in the protocol (T1).
///
/// Bodies and challenges are shown in part, since they often say what is wrong; what was configured is blotted out in
/// them.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HttpError {
    /// The endpoint could not be reached, or the connection broke.
    #[error("the endpoint gave no answer")]
    Exchange(#[source] reqwest::Error),
    /// The endpoint wants to know who asks (401), or says that this is not enough (403).
    #[error(
        "the endpoint asks for authorization (HTTP status {status}{}){body}",
        challenge.as_ref().map(|challenge| format!(", {}", shortened(challenge))).unwrap_or_default()
    )]
    Unauthorized {
        /// 401 or 403.
        status: u16,
        /// The `WWW-Authenticate` headers, separated by commas, where there were any.
        challenge: Option<String>,
        /// The beginning of the body.
        body: Excerpt,
    },
    /// The endpoint answered with a status that is no success.
    #[error(
        "the endpoint answered with HTTP status {status}{}{body}",
        retry_after.map(|pause| format!(" and wants to be left alone for {} s", pause.as_secs())).unwrap_or_default()
    )]
    Status {
        /// The status.
        status: u16,
        /// How long the endpoint wants to be left alone, where it said so in seconds.
        retry_after: Option<Duration>,
        /// The beginning of the body.
        body: Excerpt,
    },
    /// The endpoint sends us elsewhere, where the request and its credentials must not go (R4).
    #[error(
        "the endpoint redirects (HTTP status {status}) to `{origin}`, which is not followed; if that is the server, configure its URL"
    )]
    Redirect {
        /// The status.
        status: u16,
        /// Where to, without path and query.
        origin: String,
    },
    /// The answer is neither JSON nor an event stream.
    #[error(
        "the endpoint answered with content type `{}`, which is neither JSON nor an event stream{body}",
        content_type.as_deref().unwrap_or("none")
    )]
    ContentType {
        /// The content type, where there was one.
        content_type: Option<String>,
        /// The beginning of the body.
        body: Excerpt,
    },
    /// The answer is compressed, which was not asked for.
    #[error(
        "the endpoint answered in the encoding `{encoding}`, which was not asked for; turn compression off there"
    )]
    Encoding {
        /// The encoding as the endpoint names it.
        encoding: String,
    },
    /// The event stream ended before the answer came, and cannot be resumed.
    #[error("the event stream ended before the answer")]
    StreamEnded,
    /// The answer is none to this request.
    #[error("the endpoint answered with a message that does not answer the request")]
    NotAnAnswer,
    /// The session is lost, and a new one could not be begun (R10).
    #[error("the endpoint has lost the session, and did not begin a new one")]
    SessionLost(#[source] std::sync::Arc<super::RequestError>),
}

/// The beginning of a body, fit to be shown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Excerpt(String);

impl Excerpt {
    /// The beginning of `body` on one line, without what must not be shown.
    pub(super) fn new(body: &[u8], redaction: &Redaction) -> Self {
        let text = redaction.of(String::from_utf8_lossy(body).into_owned());
        let words =
            text.split(|character: char| character.is_whitespace() || character.is_control());
        let words: Vec<_> = words.filter(|word| !word.is_empty()).collect();
        let line = words.join(" ");
        Self(shortened(&line))
    }

    /// The text; empty when there was no body.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The beginning of a text that may be long.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

impl fmt::Display for Excerpt {
    /// Continues a sentence, where there is something to say.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return Ok(());
        }
        write!(f, ": {}", self.0)
    }
}

impl HttpError {
    /// The bounded code (T1).
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Exchange(error) if error.is_connect() || error.is_builder() => {
                ErrorCode::TransportError
            }
            // It sends us round in circles.
            Self::Exchange(error) if error.is_redirect() => ErrorCode::UnexpectedResponse,
            Self::StreamEnded | Self::Exchange(_) => ErrorCode::TransportClosed,
            Self::Unauthorized { .. } => ErrorCode::AuthRequired,
            // Everything else that is no success was told by the endpoint, or by something before it.
            Self::Status { status, .. } if *status == 429 || *status >= 500 => {
                ErrorCode::TransportError
            }
            Self::Status { .. }
            | Self::Redirect { .. }
            | Self::ContentType { .. }
            | Self::Encoding { .. }
            | Self::NotAnAnswer => ErrorCode::UnexpectedResponse,
            Self::SessionLost(error) => error.code(),
        }
    }

    /// Whether there was no connection, so that nothing was sent.
    #[must_use]
    pub fn is_unreachable(&self) -> bool {
        matches!(self, Self::Exchange(error) if error.is_connect())
    }

    /// Whether the server may still be at work on the request, behind a connection that broke.
    pub(super) fn leaves_work(&self) -> bool {
        match self {
            Self::StreamEnded => true,
            Self::Exchange(error) => !error.is_connect(),
            _ => false,
        }
    }

    /// Whether asking once more would bring the same.
    pub(crate) fn is_refusal(&self) -> bool {
        match self {
            Self::Status { status, .. } => (400..500).contains(status) && *status != 429,
            Self::Unauthorized { .. }
            | Self::Redirect { .. }
            | Self::ContentType { .. }
            | Self::Encoding { .. }
            | Self::NotAnAnswer => true,
            Self::Exchange(_) | Self::StreamEnded | Self::SessionLost(_) => false,
        }
    }

    /// What the endpoint asks for in its `WWW-Authenticate` header.
    #[must_use]
    pub fn challenge(&self) -> Option<&str> {
        match self {
            Self::Unauthorized { challenge, .. } => challenge.as_deref(),
            Self::SessionLost(error) => error.http()?.challenge(),
            _ => None,
        }
    }

    /// How long the endpoint wants to be left alone, where it said so.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Status { retry_after, .. } => *retry_after,
            Self::SessionLost(error) => error.http()?.retry_after(),
            _ => None,
        }
    }
}

impl Classified for HttpError {
    fn error_code(&self) -> Option<ErrorCode> {
        Some(self.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_shown_on_one_line_and_in_part() {
        let long = "x".repeat(1_000);
        let rows: &[(&[u8], String, &str)] = &[
            (b"", String::new(), "nothing to show"),
            (
                b"<p>\r\n  no\x1b[31m entry\0</p>",
                ": <p> no [31m entry </p>".to_owned(),
                "no control characters",
            ),
            (
                b"caf\xe9",
                ": caf\u{fffd}".to_owned(),
                "bytes that are no text",
            ),
            (
                long.as_bytes(),
                format!(": {}...", "x".repeat(SHOWN)),
                "cut",
            ),
        ];
        for (body, shown, reason) in rows {
            let excerpt = Excerpt::new(body, &Redaction::default());
            assert_eq!(excerpt.to_string(), *shown, "{reason}");
        }
    }
}
