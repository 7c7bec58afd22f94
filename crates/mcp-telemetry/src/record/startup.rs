//! One startup, from its beginning to whatever became of it.

use std::sync::Arc;

use opentelemetry::KeyValue;
use tokio::time::Instant;
use tracing::Span;

use super::attribute::{self, fixed};
use super::server::Server;
use super::span;
use crate::ErrorCode;

/// A startup that is under way. It is recorded exactly once: with what is said of its end, and as cancelled when it is
/// dropped before.
#[derive(Debug)]
#[must_use = "dropped, it is recorded as cancelled"]
pub struct StartupRecording(Option<UnderWay>);

/// Where the listing of a startup comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ListingOrigin {
    /// It fetched it.
    Fetched,
    /// Another startup did.
    Shared,
}

#[derive(Debug)]
struct UnderWay {
    server: Arc<Server>,
    span: Span,
    begun: Instant,
}

impl ListingOrigin {
    fn as_str(self) -> &'static str {
        match self {
            Self::Fetched => "fetched",
            Self::Shared => "shared",
        }
    }
}

impl StartupRecording {
    pub(super) fn begin(server: Option<&Arc<Server>>) -> Self {
        Self(server.map(|server| UnderWay {
            server: server.clone(),
            span: span::of_startup(server.labels().name(), &server.labels().place()),
            begun: Instant::now(),
        }))
    }

    /// The span, to run the startup in; disabled when nobody listens.
    #[must_use]
    pub fn span(&self) -> Span {
        self.0
            .as_ref()
            .map_or_else(Span::none, |under_way| under_way.span.clone())
    }

    /// The server is ready, and speaks this version.
    pub fn ready(mut self, listing: ListingOrigin, protocol_version: &str) {
        if let Some(under_way) = self.0.take() {
            under_way.span.record(attribute::LISTING, listing.as_str());
            under_way
                .span
                .record(attribute::PROTOCOL_VERSION, protocol_version);
            under_way.end(fixed(attribute::LISTING, listing.as_str()));
        }
    }

    /// The server did not become ready.
    pub fn failed(mut self, code: ErrorCode) {
        self.fail(code);
    }

    fn fail(&mut self, code: ErrorCode) {
        if let Some(under_way) = self.0.take() {
            let code = code.as_str();
            span::fail(&under_way.span, code, (attribute::ERROR_CODE, code));
            under_way.end(fixed(attribute::ERROR_TYPE, code));
        }
    }
}

impl Drop for StartupRecording {
    fn drop(&mut self) {
        self.fail(ErrorCode::Cancelled);
    }
}

impl UnderWay {
    fn end(self, how: KeyValue) {
        let mut attributes = self.server.labels().all();
        attributes.push(how);
        let elapsed = self.begun.elapsed().as_secs_f64();
        self.server
            .instruments()
            .startup
            .record(elapsed, &attributes);
    }
}
