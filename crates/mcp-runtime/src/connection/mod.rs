//! One server's connection: how to reach it, what it said of itself, what it offers.
//!
//! Nothing above this module knows whether a server is a child process or an endpoint.

mod calls;
mod codec;
mod connector;
mod conversation;
mod disconnect;
mod dispatch;
mod elicitations;
mod handshake;
mod http;
mod id_scan;
mod in_flight;
mod input;
mod line;
mod notice;
mod outbox;
mod pending;
mod process;
mod request;
mod server_request;
mod stdio;
mod subscription;

#[cfg(test)]
mod fuzz;

use std::sync::Arc;

use mcp_catalog::{LiveCatalog, RefreshGate};
use mcp_keys::McpServerKey;
use mcp_sandbox_meta::{EnvironmentLocality, RawMeta, ServerTransport, launcher_is_reachable};
use mcp_telemetry::{OperationRecording, ServerRecorder, Telemetry};
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use tracing::Instrument;

pub use codec::{Malformed, RpcError};
pub use disconnect::Disconnect;
pub use handshake::{SpokenEra, UnsupportedVersion};
pub use http::{Excerpt, HttpError, HttpSetupError};
pub use input::UnfitInput;
pub use outbox::Refused;
pub use process::{Exit, SpawnError};
pub use request::{RequestError, RequestErrorKind};

pub(crate) use connector::{ConnectError, Connector, Interview};
pub(crate) use handshake::ServerFacts;
pub(crate) use input::Input;
pub(crate) use process::{Launch, Process};

use crate::call::CallId;
use crate::deadline::Deadline;
use crate::permissions::Permissions;
use crate::tool::Tool;
use calls::UnderWay;
use elicitations::Interaction;
pub(crate) use http::Tls;
use http::{HttpLink, InvalidAnnotation};
use stdio::StdioLink;
pub(crate) use subscription::Subscription;

/// A server that has shaken hands.
#[derive(Debug)]
pub(crate) struct Connection {
    key: McpServerKey,
    /// As they were at first; a renewed session may have others.
    facts: Arc<ServerFacts>,
    link: Link,
    catalog: LiveCatalog<Tool>,
    refresh: Arc<RefreshGate>,
    interaction: Interaction,
    /// What each request says of the client; empty where that is said once.
    own_meta: RawMeta,
    telemetry: Telemetry,
    recorder: ServerRecorder,
}

/// The way to a server.
#[derive(Debug)]
enum Link {
    Stdio(StdioLink),
    Http(HttpLink),
}

/// The call that a request makes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ToolCall<'a> {
    pub(crate) id: CallId,
    /// What the server said of the tool.
    pub(crate) definition: &'a RawValue,
    pub(crate) recording: &'a OperationRecording,
}

impl Link {
    /// Sends a request and waits for its raw result until the deadline.
    async fn request<P: Serialize>(
        &self,
        method: &'static str,
        params: impl FnOnce(u64) -> P,
        call: Option<ToolCall<'_>>,
        deadline: &Deadline,
    ) -> Result<Box<RawValue>, RequestError> {
        match self {
            Self::Stdio(link) => {
                let call = call.map(|call| call.id);
                link.request(method, params, call, deadline).await
            }
            Self::Http(link) => link.request(method, params, call, deadline).await,
        }
    }

    async fn notify(&self, method: &'static str, deadline: &Deadline) -> Result<(), RequestError> {
        match self {
            Self::Stdio(link) => link.notify(method),
            Self::Http(link) => link.notify(method, deadline).await,
        }
    }

    /// The version was agreed on; endpoints are told with every request.
    fn agreed(&self, version: &str) {
        if let Self::Http(link) = self {
            link.agreed(version);
        }
    }
}

impl Connection {
    pub(crate) fn key(&self) -> &McpServerKey {
        &self.key
    }

    /// Records what becomes of its requests from now on, and tells it of the traces they belong to (T5).
    pub(crate) fn recorded_by(self, telemetry: &Telemetry, recorder: &ServerRecorder) -> Self {
        Self {
            telemetry: telemetry.clone(),
            recorder: recorder.clone(),
            ..self
        }
    }

    /// Records what becomes of a request that is no call (T4).
    pub(crate) async fn recorded<T>(
        &self,
        method: &'static str,
        asking: impl Future<Output = Result<T, RequestError>>,
    ) -> Result<T, RequestError> {
        let recording = self.recorder.request(method);
        // Boxed, because a future that is handed on is there once more for every hand.
        let asked = Box::pin(asking).instrument(recording.span()).await;
        match &asked {
            Ok(_) => recording.succeeded(),
            Err(error) => recording.failed(error),
        }
        asked
    }

    /// What the server says of itself now.
    pub(crate) fn facts(&self) -> Arc<ServerFacts> {
        let renewed = match &self.link {
            Link::Stdio(_) => None,
            Link::Http(link) => link.renewed_facts(),
        };
        renewed.unwrap_or_else(|| self.facts.clone())
    }

    /// What the server offers, before filters.
    pub(crate) fn catalog(&self) -> &LiveCatalog<Tool> {
        &self.catalog
    }

    /// Refreshes owed since the server said that its tools changed.
    pub(crate) fn refresh(&self) -> &RefreshGate {
        &self.refresh
    }

    /// A call begins: its clock stands still while a person is asked on its behalf (B3).
    /// Whatever it is asked about is reviewed under `permissions` (E1).
    pub(crate) fn begin(
        &self,
        call: CallId,
        permissions: Permissions,
        deadline: &Deadline,
    ) -> UnderWay {
        self.interaction.calls.begin(call, permissions, deadline)
    }

    /// Sends a request and waits for its raw result until the deadline (R9). `params` is given the request's `_meta`:
    /// `meta`, and what the protocol adds to it.
    pub(crate) async fn request<P: Serialize>(
        &self,
        method: &'static str,
        meta: RawMeta,
        params: impl FnOnce(RawMeta) -> P,
        call: Option<ToolCall<'_>>,
        deadline: &Deadline,
    ) -> Result<Box<RawValue>, RequestError> {
        let params = |id| {
            if let Some(call) = call {
                call.recording.requested(id);
            }
            params(self.request_meta(meta, call.is_some().then_some(id)))
        };
        self.link.request(method, params, call, deadline).await
    }

    fn request_meta(&self, mut meta: RawMeta, progress_token: Option<u64>) -> RawMeta {
        meta.extend(&self.own_meta);
        if let Some(token) = progress_token.and_then(|token| to_raw_value(&token).ok()) {
            meta.push("progressToken", &token);
        }
        if let Some(trace) = self.telemetry.trace_context() {
            for (key, text) in trace.members() {
                meta.push_text(key, text);
            }
        }
        meta
    }

    /// Whether a launcher of this machine is one for the server, too (S4).
    pub(crate) fn reaches_launcher(&self) -> bool {
        let (transport, locality) = match &self.link {
            Link::Stdio(link) => (ServerTransport::Stdio, link.process().locality()),
            Link::Http(_) => (ServerTransport::Http, EnvironmentLocality::Local),
        };
        launcher_is_reachable(transport, locality)
    }

    /// Why a tool that the server lists must not be called on this connection, if so.
    pub(crate) fn refusal_of(&self, definition: &RawValue) -> Option<InvalidAnnotation> {
        match (&self.link, self.facts.era) {
            (Link::Http(_), SpokenEra::Modern) => http::check_annotations(definition).err(),
            _ => None,
        }
    }

    /// Resolves when the connection is over, with how it ended.
    pub(crate) async fn closed(&self) -> Arc<Disconnect> {
        match &self.link {
            Link::Stdio(link) => link.closed().await,
            Link::Http(link) => link.closed().await,
        }
    }

    /// Ends the connection without waiting for anything; works outside of a tokio runtime.
    pub(crate) fn abandon(&self) {
        match &self.link {
            Link::Stdio(link) => link.process().stop(),
            Link::Http(link) => link.abandon(),
        }
    }

    /// Ends the connection; a process is only asked to end, see [`Process::ended`].
    pub(crate) async fn close(&self) {
        match &self.link {
            Link::Stdio(link) => link.process().stop(),
            Link::Http(link) => link.close().await,
        }
    }
}
