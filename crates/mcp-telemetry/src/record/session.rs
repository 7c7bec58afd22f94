//! One connection, from its handshake to its end.

use std::sync::Arc;

use opentelemetry::KeyValue;
use tokio::time::Instant;

use super::attribute::{self, fixed};
use super::server::Server;
use crate::ErrorCode;

/// A connection that is there. It is recorded exactly once, at the latest when this is dropped.
#[derive(Debug)]
#[must_use = "dropped, it is recorded as ended by this side"]
pub struct SessionRecording(Option<Open>);

#[derive(Debug)]
struct Open {
    server: Arc<Server>,
    begun: Instant,
    version: KeyValue,
}

impl SessionRecording {
    pub(super) fn begin(server: Option<&Arc<Server>>, protocol_version: &str) -> Self {
        Self(server.map(|server| Open {
            server: server.clone(),
            begun: Instant::now(),
            version: KeyValue::new(attribute::PROTOCOL_VERSION, protocol_version.to_owned()),
        }))
    }

    /// The connection was lost.
    pub fn lost(mut self) {
        if let Some(open) = self.0.take() {
            open.end(Some(ErrorCode::TransportClosed));
        }
    }
}

impl Drop for SessionRecording {
    fn drop(&mut self) {
        if let Some(open) = self.0.take() {
            open.end(None);
        }
    }
}

impl Open {
    fn end(self, error: Option<ErrorCode>) {
        let Self {
            server,
            begun,
            version,
        } = self;
        let mut attributes = server.labels().all();
        attributes.push(version);
        attributes.extend(error.map(|code| fixed(attribute::ERROR_TYPE, code.as_str())));
        let elapsed = begun.elapsed().as_secs_f64();
        server.instruments().session.record(elapsed, &attributes);
    }
}
