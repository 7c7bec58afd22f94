//! rmcp's use of reqwest, with two things it lacks: an end, and discretion.
//!
//! rmcp's worker waits for the first answer of a server without looking at anything else, so a connection that is given
//! up would wait for ever. And reqwest's errors show the URL, whose query may hold a key.

use std::collections::HashMap;
use std::sync::Arc;

use futures_util::stream::BoxStream;
use http::{HeaderName, HeaderValue};
use rmcp::model::ClientJsonRpcMessage;
use rmcp::transport::streamable_http_client::{
    StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
    StreamableHttpResponseLimits,
};
use sse_stream::{Error as SseError, Sse};
use tokio_util::sync::CancellationToken;

type Failure = StreamableHttpError<reqwest::Error>;
type Events = BoxStream<'static, Result<Sse, SseError>>;
type Headers = HashMap<HeaderName, HeaderValue>;

/// A client whose requests end when its connection does, and whose errors show no URL.
#[derive(Debug, Clone)]
pub(super) struct EndableClient {
    client: reqwest::Client,
    ended: CancellationToken,
}

impl EndableClient {
    pub(super) fn new(client: reqwest::Client, ended: CancellationToken) -> Self {
        Self { client, ended }
    }

    async fn until_ended<T>(
        &self,
        request: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        tokio::select! {
            biased;
            () = self.ended.cancelled() => Err(StreamableHttpError::TransportChannelClosed),
            answer = request => answer.map_err(without_url),
        }
    }
}

fn without_url(error: Failure) -> Failure {
    match error {
        StreamableHttpError::Client(error) => StreamableHttpError::Client(error.without_url()),
        error => error,
    }
}

impl StreamableHttpClient for EndableClient {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        headers: Headers,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        self.until_ended(
            self.client
                .post_message(uri, message, session_id, auth_header, headers),
        )
        .await
    }

    async fn post_message_with_response_limits(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        headers: Headers,
        limits: StreamableHttpResponseLimits,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let client = &self.client;
        let post = client.post_message_with_response_limits(
            uri,
            message,
            session_id,
            auth_header,
            headers,
            limits,
        );
        self.until_ended(post).await
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        auth_header: Option<String>,
        headers: Headers,
    ) -> Result<(), Failure> {
        self.until_ended(
            self.client
                .delete_session(uri, session_id, auth_header, headers),
        )
        .await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        headers: Headers,
    ) -> Result<Events, Failure> {
        self.until_ended(self.client.get_stream(
            uri,
            session_id,
            last_event_id,
            auth_header,
            headers,
        ))
        .await
    }

    async fn get_stream_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        headers: Headers,
        max_size: usize,
    ) -> Result<Events, Failure> {
        let client = &self.client;
        let get = client.get_stream_with_max_sse_event_size(
            uri,
            session_id,
            last_event_id,
            auth_header,
            headers,
            max_size,
        );
        self.until_ended(get).await
    }
}
