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

use std::sync::Arc;

use mcp_catalog::{LiveCatalog, RefreshGate};
use mcp_keys::McpServerKey;
use rmcp::model::Implementation;
use rmcp::service::ClientInitializeError;
use serde::Serialize;
use serde_json::value::RawValue;

pub use codec::{Malformed, RpcError};
pub use disconnect::Disconnect;
pub use handshake::UnsupportedVersion;
pub use http::HttpSetupError;
pub use outbox::Refused;
pub use process::{Exit, SpawnError};
pub use request::{RequestError, RequestErrorKind};

pub(crate) use handshake::ServerFacts;
pub(crate) use process::{Launch, Process};

use crate::call::CallId;
use crate::config::HttpTransport;
use crate::deadline::{Deadline, Elapsed};
use crate::event::EventSink;
use crate::tool::Tool;
use handshake::HandshakeError;
use http::{HttpLink, HttpSetup};
use notice::Notices;
use server_request::ServerRequests;
use stdio::StdioLink;

/// A server that has shaken hands.
#[derive(Debug)]
pub(crate) struct Connection {
    key: McpServerKey,
    facts: ServerFacts,
    link: Link,
    catalog: LiveCatalog<Tool>,
    refresh: Arc<RefreshGate>,
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
    HttpSetup(HttpSetupError),
    Initialize(Box<ClientInitializeError>),
    Timeout(Elapsed),
    Request(RequestError),
    Version(UnsupportedVersion),
}

/// What every connection of a runtime has in common.
#[derive(Debug, Clone)]
pub(crate) struct Connector {
    pub(crate) client: Implementation,
    pub(crate) events: EventSink,
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
            StdioLink::start(launch, notices, handler.clone()).map_err(ConnectError::Spawn)?;
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
        deadline: &Deadline,
    ) -> Result<Connection, ConnectError> {
        let setup = HttpSetup::new(transport).map_err(ConnectError::HttpSetup)?;
        let (notices, refresh) = self.notices(key);
        let connecting = setup.connect(self.client.clone(), notices);
        let link = deadline
            .bound(connecting)
            .await
            .map_err(ConnectError::Timeout)?
            .map_err(|error| ConnectError::Initialize(Box::new(error)))?;
        let facts = ServerFacts::of_peer(link.peer());
        Ok(Connection {
            key: key.clone(),
            facts,
            link: Link::Http(link),
            catalog: LiveCatalog::new(),
            refresh,
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

    /// Shakes hands. Cancel-safe: a dropped handshake ends the process.
    pub(crate) async fn initialize(self, deadline: &Deadline) -> Result<Connection, ConnectError> {
        let facts = handshake::legacy(&self.link, &self.handler, deadline)
            .await
            .map_err(|error| match error {
                HandshakeError::Request(error) => ConnectError::Request(error),
                HandshakeError::Version(error) => ConnectError::Version(error),
            })?;
        Ok(Connection {
            key: self.key,
            facts,
            link: Link::Stdio(self.link),
            catalog: LiveCatalog::new(),
            refresh: self.refresh,
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

    /// Sends a request and waits for its raw result until the deadline (R9). `params` gets the request's progress
    /// token, where the transport lets us choose it.
    pub(crate) async fn request<P: Serialize>(
        &self,
        method: &str,
        params: impl FnOnce(Option<u64>) -> P,
        call: Option<CallId>,
        deadline: &Deadline,
    ) -> Result<Box<RawValue>, RequestError> {
        match &self.link {
            Link::Stdio(link) => {
                link.request(method, |id| params(Some(id)), call, deadline)
                    .await
            }
            Link::Http(link) => link.request(method, params(None), call, deadline).await,
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
