//! From a configuration to an endpoint that may be asked.

use std::time::Duration;

use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderName, HeaderValue};
use url::Url;

use super::endpoint::Endpoint;
use super::tls::Tls;
use crate::config::HttpTransport;

/// How long a TCP and TLS connection may take to open.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a connection may be silent before its peer is asked whether it is still there. A stream may be silent for
/// ever; only a peer that is gone ends it.
const KEEPALIVE: Duration = Duration::from_secs(30);
/// How long a connection is kept for a next request.
const IDLE_TIMEOUT: Duration = Duration::from_secs(60);
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
    /// The header belongs to the protocol.
    #[error("header `{name}` cannot be configured: the protocol sets it")]
    Reserved {
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

/// What the protocol says in headers of its own.
const RESERVED: &[&str] = &[
    "accept",
    "content-length",
    "content-type",
    "host",
    "last-event-id",
    "mcp-method",
    "mcp-name",
    "mcp-protocol-version",
    "mcp-session-id",
    "transfer-encoding",
];

/// The endpoint of a configuration.
pub(super) fn endpoint(transport: &HttpTransport, tls: &Tls) -> Result<Endpoint, HttpSetupError> {
    let headers = headers(transport)?;
    let client = client(&transport.url, tls)?;
    Ok(Endpoint::new(client, transport.url.clone(), headers))
}

fn headers(transport: &HttpTransport) -> Result<HeaderMap, HttpSetupError> {
    let mut headers = HeaderMap::new();
    let mut add = |name: HeaderName, value: HeaderValue| {
        if RESERVED.contains(&name.as_str()) {
            return Err(HttpSetupError::Reserved { name });
        }
        match headers.insert(name.clone(), value) {
            None => Ok(()),
            Some(_) => Err(HttpSetupError::Twice { name }),
        }
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

fn client(url: &Url, tls: &Tls) -> Result<reqwest::Client, HttpSetupError> {
    reqwest::Client::builder()
        .tls_backend_preconfigured(tls.for_url(url).map_err(HttpSetupError::Tls)?)
        .connect_timeout(CONNECT_TIMEOUT)
        .tcp_keepalive(KEEPALIVE)
        .pool_idle_timeout(IDLE_TIMEOUT)
        .redirect(same_origin_only())
        .build()
        .map_err(|error| HttpSetupError::Client(error.without_url()))
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
