//! One server of a runtime: what it is, and what has become of it.

use std::sync::Arc;
use std::time::Duration;

use mcp_keys::{HiddenReason, McpServerKey};
use mcp_telemetry::{ServerLabels, ServerRecorder, Telemetry};
use tokio::sync::watch;

use crate::call::LaunchFingerprint;
use crate::config::{ServerConfig, Transport};
use crate::connection::Connection;
use crate::executor::Placement;
use crate::outage::Outage;
use crate::roster::Configured;
use crate::startup::StartupError;

/// The place of one server, from its configuration to its end.
#[derive(Debug)]
pub(crate) struct Slot {
    /// The key under which it is exposed.
    pub(crate) key: McpServerKey,
    /// Its own key, which says who configured it (K8).
    pub(crate) owner: McpServerKey,
    pub(crate) config: ServerConfig,
    /// Where it runs, if it is a process.
    pub(crate) placement: Placement,
    /// The plugin that it came with.
    pub(crate) plugin: Option<Arc<str>>,
    /// Records what becomes of its calls, startups and sessions.
    pub(crate) recorder: ServerRecorder,
    state: watch::Sender<SlotState>,
}

/// What has become of a server.
#[derive(Debug, Clone)]
pub(crate) enum SlotState {
    Starting,
    Ready {
        connection: Arc<Connection>,
        elapsed: Duration,
        shared: bool,
    },
    Failed {
        error: Arc<StartupError>,
        elapsed: Duration,
    },
    Disconnected(Outage),
    Disabled,
    Hidden {
        reason: HiddenReason,
    },
    Cancelled,
}

impl Slot {
    pub(crate) fn new(
        key: &McpServerKey,
        owner: &McpServerKey,
        server: &Configured,
        state: SlotState,
        telemetry: &Telemetry,
    ) -> Self {
        let server = server.clone();
        let recorder = telemetry.server(labels(key, server.config.transport()));
        Self {
            key: key.clone(),
            owner: owner.clone(),
            config: server.config,
            placement: server.placement,
            plugin: server.plugin,
            recorder,
            state: watch::Sender::new(state),
        }
    }

    pub(crate) fn state(&self) -> SlotState {
        self.state.borrow().clone()
    }

    pub(crate) fn set(&self, state: SlotState) {
        self.state.send_replace(state);
    }

    /// The connection, while there is one.
    pub(crate) fn connection(&self) -> Option<Arc<Connection>> {
        match &*self.state.borrow() {
            SlotState::Ready { connection, .. } => Some(connection.clone()),
            _ => None,
        }
    }

    /// Looks at the state without copying it. `look` waits for nothing.
    pub(crate) fn look<R>(&self, look: impl FnOnce(&SlotState) -> R) -> R {
        look(&self.state.borrow())
    }

    /// Waits until startup has ended, one way or another.
    pub(crate) async fn settled(&self) {
        self.becomes(|state| !matches!(state, SlotState::Starting))
            .await;
    }

    /// Waits until nothing is being started or is going to be, as after the end of the runtime.
    pub(crate) async fn at_rest(&self) {
        self.becomes(|state| match state {
            SlotState::Starting => false,
            SlotState::Disconnected(outage) => !outage.is_reconnecting(),
            _ => true,
        })
        .await;
    }

    async fn becomes(&self, fits: impl FnMut(&SlotState) -> bool) {
        let mut state = self.state.subscribe();
        // The sender lives in `self`.
        let _ = state.wait_for(fits).await;
    }

    /// What is started when this server is (A1).
    pub(crate) fn fingerprint(&self) -> LaunchFingerprint {
        let (environment, transport) = (self.owner.environment(), self.config.transport());
        LaunchFingerprint::of(environment, &self.placement.executor, transport)
    }

    /// How many tools are offered, after filters.
    pub(crate) fn offered(&self, connection: &Connection) -> usize {
        let snapshot = connection.catalog().snapshot();
        snapshot
            .items()
            .iter()
            .filter(|tool| self.config.filter().admits(tool.name().as_str()))
            .count()
    }
}

/// A server as telemetry knows it: by the key under which it is exposed. Of a URL, only who is asked.
fn labels(key: &McpServerKey, transport: &Transport) -> ServerLabels {
    let name = key.name().as_str();
    let labels = match transport {
        Transport::Stdio(_) => ServerLabels::stdio(name),
        Transport::Http(http) => {
            let (url, origin) = (&http.url, http.url.origin().ascii_serialization());
            let port = url.port_or_known_default().unwrap_or_default();
            ServerLabels::http(name, origin, url.host_str().unwrap_or_default(), port)
        }
    };
    match key.environment() {
        Some(id) => labels.environment(id.as_str()),
        None => labels,
    }
}
