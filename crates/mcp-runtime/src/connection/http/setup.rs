//! From a configuration to an HTTP client that may be used, and from there to a connection.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use http::header::AUTHORIZATION;
use http::{HeaderName, HeaderValue};
use rmcp::model::Implementation;
use rmcp::service::{
    ClientCacheConfig, ClientInitializeError, ClientLifecycleMode,
    serve_client_with_lifecycle_and_ct,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use tokio_util::sync::CancellationToken;
use url::Url;

use super::client::EndableClient;
use super::tls::Tls;
use super::{HttpLink, Tokens};
use crate::config::HttpTransport;
use crate::connection::handshake::{MODERN, SpokenEra};
use crate::connection::notice::Notices;
use crate::connection::server_request::ServerRequests;

/// How long a TCP and TLS connection may take to open.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
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

/// A client that can be asked to connect.
pub(super) struct HttpSetup {
    client: reqwest::Client,
    config: StreamableHttpClientTransportConfig,
}

impl HttpSetup {
    pub(super) fn new(transport: &HttpTransport, tls: &Tls) -> Result<Self, HttpSetupError> {
        let headers = headers(transport)?;
        let config = StreamableHttpClientTransportConfig::with_uri(transport.url.as_str())
            .custom_headers(headers);
        Ok(Self {
            client: client(&transport.url, tls)?,
            config,
        })
    }

    /// Connects and shakes hands. The caller bounds the time; a connection given up ends whatever is under way.
    pub(super) async fn connect(
        self,
        client: Implementation,
        notices: Notices,
        era: SpokenEra,
    ) -> Result<HttpLink, ClientInitializeError> {
        let tokens = Arc::new(Tokens::default());
        let handler = ServerRequests::with_notices(client, notices, tokens.clone());
        let (closed, ended) = (CancellationToken::new(), CancellationToken::new());
        let ending = ended.clone().drop_guard();
        let client = EndableClient::new(self.client, ended);
        let transport = StreamableHttpClientTransport::with_client(client, self.config);
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
            ending: Some(ending),
        })
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

fn client(url: &Url, tls: &Tls) -> Result<reqwest::Client, HttpSetupError> {
    reqwest::Client::builder()
        .tls_backend_preconfigured(tls.for_url(url).map_err(HttpSetupError::Tls)?)
        .connect_timeout(CONNECT_TIMEOUT)
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
