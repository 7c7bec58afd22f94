//! From what is configured to a connection: a process or an endpoint, which is a stranger until it has shaken hands.

use std::sync::Arc;
use std::time::Duration;

use mcp_catalog::{LiveCatalog, RefreshGate};
use mcp_keys::{EnvironmentId, McpServerKey};
use mcp_sandbox_meta::RawMeta;
use mcp_telemetry::{ServerRecorder, Telemetry};
use rmcp::model::{
    ClientCapabilities, ClientConfig, ElicitationCapability, FormElicitationCapability,
    Implementation, UrlElicitationCapability,
};

use super::calls::Calls;
use super::elicitations::Interaction;
use super::handshake::{self, HandshakeError, SpokenEra, UnsupportedVersion};
use super::http::{HttpLink, HttpSetupError, Tls};
use super::notice::Notices;
use super::process::{Launch, Process, SpawnError, Starting};
use super::request::RequestError;
use super::stdio::StdioLink;
use super::{Connection, Link};
use crate::authority::{Authorities, CurrentPermissions, Primary};
use crate::config::HttpTransport;
use crate::deadline::{Deadline, Elapsed};
use crate::elicitation::Elicitor;
use crate::event::EventSink;

/// Why no connection came to be.
#[derive(Debug)]
pub(crate) enum ConnectError {
    Spawn(SpawnError),
    /// The process was not started in time.
    Timeout(Elapsed),
    HttpSetup(HttpSetupError),
    Request(RequestError),
    Version(UnsupportedVersion),
    Encode(serde_json::Error),
}

/// What every connection of a runtime has in common.
#[derive(Debug, Clone)]
pub(crate) struct Connector {
    pub(crate) client: Implementation,
    pub(crate) elicitor: Option<Elicitor>,
    pub(crate) events: EventSink,
    pub(crate) tls: Tls,
    pub(crate) authorities: Arc<Authorities>,
    pub(crate) primary: Primary,
}

/// Under which conditions a person is asked what a server wants to know.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Interview<'a> {
    /// The environment that owns the server.
    pub(crate) owner: Option<&'a EnvironmentId>,
    /// How long a person may take.
    pub(crate) patience: Duration,
}

impl Connector {
    /// Begins to start a child process. Dropped at any await from here on, it is ended.
    pub(crate) fn spawn(
        &self,
        key: &McpServerKey,
        launch: &Launch,
        interview: Interview<'_>,
    ) -> Spawning {
        let calls = Arc::new(Calls::default());
        let (notices, refresh) = self.notices(key, &calls);
        Spawning {
            key: key.clone(),
            starting: launch.begin(key),
            client: self.introduction(),
            notices,
            refresh,
            interaction: self.interaction(&calls, interview),
        }
    }

    /// Gets ready to ask an endpoint, in the era given.
    pub(crate) fn http(
        &self,
        key: &McpServerKey,
        transport: &HttpTransport,
        era: SpokenEra,
        interview: Interview<'_>,
    ) -> Result<Stranger, ConnectError> {
        let client = self.introduction();
        let greeting = handshake::greeting(&client).map_err(ConnectError::Encode)?;
        let calls = Arc::new(Calls::default());
        let (notices, refresh) = self.notices(key, &calls);
        let interaction = self.interaction(&calls, interview);
        let link = HttpLink::start(
            key,
            transport,
            &self.tls,
            era,
            notices,
            interaction.clone(),
            greeting,
        );
        Ok(Stranger {
            key: key.clone(),
            link: Link::Http(link.map_err(ConnectError::HttpSetup)?),
            client,
            refresh,
            interaction,
        })
    }

    /// What we say of ourselves. Nothing is offered that nobody answers.
    pub(crate) fn introduction(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        capabilities.elicitation = self.elicitor.as_ref().map(|_| {
            ElicitationCapability::new()
                .with_form(FormElicitationCapability::new())
                .with_url(UrlElicitationCapability::new())
        });
        handshake::introduction(self.client.clone(), capabilities)
    }

    fn notices(&self, key: &McpServerKey, calls: &Arc<Calls>) -> (Notices, Arc<RefreshGate>) {
        let refresh = Arc::new(RefreshGate::new());
        let (events, calls) = (self.events.clone(), calls.clone());
        let notices = Notices::new(key.clone(), events, refresh.clone(), calls);
        (notices, refresh)
    }

    fn interaction(&self, calls: &Arc<Calls>, interview: Interview<'_>) -> Interaction {
        let Interview { owner, patience } = interview;
        Interaction {
            elicitor: self.elicitor.clone(),
            patience,
            calls: calls.clone(),
            permissions: CurrentPermissions::new(owner, &self.authorities, &self.primary),
        }
    }
}

/// A child process that is being started.
#[derive(Debug)]
pub(crate) struct Spawning {
    key: McpServerKey,
    starting: Starting,
    client: ClientConfig,
    notices: Notices,
    refresh: Arc<RefreshGate>,
    interaction: Interaction,
}

impl Spawning {
    pub(crate) fn process(&self) -> &Process {
        self.starting.process()
    }

    /// Waits until the process runs. Cancel-safe: dropped, it ends the process.
    pub(crate) async fn started(self, deadline: &Deadline) -> Result<Stranger, ConnectError> {
        let started = deadline.bound(self.starting.started()).await;
        let started = started.map_err(ConnectError::Timeout)?;
        let (streams, process) = started.map_err(ConnectError::Spawn)?;
        let interaction = self.interaction.clone();
        let link = StdioLink::start(&self.key, streams, process, self.notices, interaction);
        Ok(Stranger {
            key: self.key,
            link: Link::Stdio(link),
            client: self.client,
            refresh: self.refresh,
            interaction: self.interaction,
        })
    }
}

/// A server that has not shaken hands yet.
#[derive(Debug)]
pub(crate) struct Stranger {
    key: McpServerKey,
    link: Link,
    client: ClientConfig,
    refresh: Arc<RefreshGate>,
    interaction: Interaction,
}

impl Stranger {
    /// Agrees with the server in the era given. Cancel-safe: a dropped handshake ends what was started.
    pub(crate) async fn shake_hands(
        self,
        era: SpokenEra,
        deadline: &Deadline,
    ) -> Result<Connection, ConnectError> {
        let encode = ConnectError::Encode;
        let (own_meta, facts) = match era {
            SpokenEra::Legacy => {
                let greeting = handshake::greeting(&self.client).map_err(encode)?;
                let facts = handshake::legacy(&self.link, &greeting, deadline).await;
                (RawMeta::new(), facts)
            }
            SpokenEra::Modern => {
                let meta = handshake::client_meta(&self.client).map_err(encode)?;
                let facts = handshake::modern(&self.link, &meta, deadline).await;
                (meta, facts)
            }
        };
        let facts = facts.map_err(|error| match error {
            HandshakeError::Request(error) => ConnectError::Request(error),
            HandshakeError::Version(error) => ConnectError::Version(error),
        })?;
        if let Link::Http(link) = &self.link {
            link.listen();
        }
        Ok(Connection {
            telemetry: Telemetry::off(),
            recorder: ServerRecorder::off(),
            key: self.key,
            facts: Arc::new(facts),
            link: self.link,
            catalog: LiveCatalog::new(),
            refresh: self.refresh,
            interaction: self.interaction,
            own_meta,
        })
    }
}
