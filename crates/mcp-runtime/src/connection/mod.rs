//! One server's connection: how to reach it, what it said of itself, what it offers.
//!
//! Nothing above this module knows whether a server is a child process or an endpoint.

mod codec;
mod disconnect;
mod handshake;
mod http;
mod id_scan;
mod line;
mod notice;
mod outbox;
mod pending;
mod process;
mod request;
mod server_request;
mod stdio;
mod subscription;

use std::sync::Arc;

use mcp_catalog::{LiveCatalog, RefreshGate};
use mcp_keys::McpServerKey;
use mcp_sandbox_meta::RawMeta;
use rmcp::model::Implementation;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

pub use codec::{Malformed, RpcError};
pub use disconnect::Disconnect;
pub use handshake::{SpokenEra, UnsupportedVersion};
pub use http::HttpSetupError;
pub use outbox::Refused;
pub use process::{Exit, SpawnError};
pub use request::{RequestError, RequestErrorKind};

pub(crate) use handshake::ServerFacts;
pub(crate) use process::{Launch, Process};

use crate::call::CallId;
use crate::config::HttpTransport;
use crate::deadline::Deadline;
use crate::event::EventSink;
use crate::tool::Tool;
use handshake::HandshakeError;
use http::HttpLink;
pub(crate) use http::{HttpConnectError, Tls};
use notice::Notices;
use server_request::ServerRequests;
use stdio::StdioLink;
pub(crate) use subscription::Subscription;

/// A server that has shaken hands.
#[derive(Debug)]
pub(crate) struct Connection {
    key: McpServerKey,
    facts: ServerFacts,
    link: Link,
    catalog: LiveCatalog<Tool>,
    refresh: Arc<RefreshGate>,
    /// What each request says of the client; empty where that is said once or by rmcp.
    own_meta: RawMeta,
}

#[derive(Debug)]
enum Link {
    Stdio(StdioLink),
    Http(HttpLink),
}

/// Why no connection came to be.
#[derive(Debug)]
pub(crate) enum ConnectError {
    Spawn(SpawnError),
    Http(HttpConnectError),
    Request(RequestError),
    Version(UnsupportedVersion),
    Encode(serde_json::Error),
}

/// What every connection of a runtime has in common.
#[derive(Debug, Clone)]
pub(crate) struct Connector {
    pub(crate) client: Implementation,
    pub(crate) events: EventSink,
    pub(crate) tls: Tls,
}

impl Connector {
    /// Starts a child process. It owns its process from here on: dropped at any await, it is ended.
    pub(crate) fn spawn(
        &self,
        key: &McpServerKey,
        launch: &Launch,
    ) -> Result<Spawned, ConnectError> {
        let handler = ServerRequests::new(self.client.clone());
        let (notices, refresh) = self.notices(key);
        let link =
            StdioLink::start(key, launch, notices, handler.clone()).map_err(ConnectError::Spawn)?;
        Ok(Spawned {
            key: key.clone(),
            link,
            handler,
            refresh,
        })
    }

    /// Connects to an endpoint.
    pub(crate) async fn http(
        &self,
        key: &McpServerKey,
        transport: &HttpTransport,
        era: SpokenEra,
        deadline: &Deadline,
    ) -> Result<Connection, ConnectError> {
        let (notices, refresh) = self.notices(key);
        let client = self.client.clone();
        let connecting = HttpLink::connect(transport, &self.tls, client, notices, era, deadline);
        let link = connecting.await.map_err(ConnectError::Http)?;
        let facts = ServerFacts::of_peer(era, link.peer());
        Ok(Connection {
            key: key.clone(),
            facts,
            link: Link::Http(link),
            catalog: LiveCatalog::new(),
            refresh,
            own_meta: RawMeta::new(),
        })
    }

    fn notices(&self, key: &McpServerKey) -> (Notices, Arc<RefreshGate>) {
        let refresh = Arc::new(RefreshGate::new());
        (
            Notices::new(key.clone(), self.events.clone(), refresh.clone()),
            refresh,
        )
    }
}

/// A child process that has not shaken hands yet.
#[derive(Debug)]
pub(crate) struct Spawned {
    key: McpServerKey,
    link: StdioLink,
    handler: ServerRequests,
    refresh: Arc<RefreshGate>,
}

impl Spawned {
    pub(crate) fn process(&self) -> &Process {
        self.link.process()
    }

    /// Agrees with the server in the era given. Cancel-safe: a dropped handshake ends the process.
    pub(crate) async fn shake_hands(
        self,
        era: SpokenEra,
        deadline: &Deadline,
    ) -> Result<Connection, ConnectError> {
        let own_meta = match era {
            SpokenEra::Legacy => RawMeta::new(),
            SpokenEra::Modern => {
                handshake::client_meta(&self.handler).map_err(ConnectError::Encode)?
            }
        };
        let facts = match era {
            SpokenEra::Legacy => handshake::legacy(&self.link, &self.handler, deadline).await,
            SpokenEra::Modern => handshake::modern(&self.link, &own_meta, deadline).await,
        };
        let facts = facts.map_err(|error| match error {
            HandshakeError::Request(error) => ConnectError::Request(error),
            HandshakeError::Version(error) => ConnectError::Version(error),
        })?;
        Ok(Connection {
            key: self.key,
            facts,
            link: Link::Stdio(self.link),
            catalog: LiveCatalog::new(),
            refresh: self.refresh,
            own_meta,
        })
    }
}

impl Connection {
    pub(crate) fn key(&self) -> &McpServerKey {
        &self.key
    }

    pub(crate) fn facts(&self) -> &ServerFacts {
        &self.facts
    }

    /// What the server offers, before filters.
    pub(crate) fn catalog(&self) -> &LiveCatalog<Tool> {
        &self.catalog
    }

    /// Refreshes owed since the server said that its tools changed.
    pub(crate) fn refresh(&self) -> &RefreshGate {
        &self.refresh
    }

    /// Sends a request and waits for its raw result until the deadline (R9). `params` is given the request's `_meta`:
    /// `meta`, and what the protocol adds to it.
    pub(crate) async fn request<P: Serialize>(
        &self,
        method: &'static str,
        meta: RawMeta,
        params: impl FnOnce(RawMeta) -> P,
        call: Option<CallId>,
        deadline: &Deadline,
    ) -> Result<Box<RawValue>, RequestError> {
        match &self.link {
            Link::Stdio(link) => {
                let params = |id| params(self.request_meta(meta, call.is_some().then_some(id)));
                link.request(method, params, call, deadline).await
            }
            // rmcp adds what belongs to the protocol, a progress token of its own included.
            // Boxed: rmcp's futures are large, and the other way need not carry them.
            Link::Http(link) => Box::pin(link.request(method, params(meta), call, deadline)).await,
        }
    }

    fn request_meta(&self, mut meta: RawMeta, progress_token: Option<u64>) -> RawMeta {
        meta.extend(&self.own_meta);
        if let Some(token) = progress_token.and_then(|token| to_raw_value(&token).ok()) {
            meta.push("progressToken", &token);
        }
        meta
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
