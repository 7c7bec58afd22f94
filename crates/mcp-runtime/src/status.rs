//! What has become of a runtime's servers.

use std::sync::Arc;
use std::time::Duration;

use mcp_keys::{HiddenReason, McpServerKey};

use crate::connection::SpokenEra;
use crate::outage::Outage;
use crate::slot::{Slot, SlotState};
use crate::startup::StartupError;

/// One server, as it is at the moment.
#[derive(Debug, Clone)]
pub struct ServerStatus {
    key: McpServerKey,
    required: bool,
    plugin: Option<Arc<str>>,
    state: ServerState,
}

/// The states of a server.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum ServerState {
    /// It is being started.
    Starting,
    /// It is connected and listed.
    Ready {
        /// How many tools it offers, after filters.
        tools: usize,
        /// The era spoken.
        era: SpokenEra,
        /// How long startup took, or the last reconnecting.
        elapsed: Duration,
        /// Whether its first listing came from another startup (C1).
        shared: bool,
    },
    /// It did not start.
    Failed {
        /// Why.
        error: Arc<StartupError>,
        /// How long it took to fail.
        elapsed: Duration,
    },
    /// Its connection ended, and it is being connected again, unless the outage says otherwise (R10).
    Disconnected(Outage),
    /// It is disabled in its configuration.
    Disabled,
    /// It is configured and not exposed (K8).
    Hidden {
        /// Why.
        reason: HiddenReason,
    },
    /// Its startup was given up.
    Cancelled,
}

impl ServerStatus {
    pub(crate) fn of(slot: &Slot) -> Self {
        let state = match slot.state() {
            SlotState::Starting => ServerState::Starting,
            SlotState::Ready {
                connection,
                elapsed,
                shared,
            } => {
                let (tools, era) = (slot.offered(&connection), connection.facts().era);
                ServerState::Ready {
                    tools,
                    era,
                    elapsed,
                    shared,
                }
            }
            SlotState::Failed { error, elapsed } => ServerState::Failed { error, elapsed },
            SlotState::Disconnected(outage) => ServerState::Disconnected(outage),
            SlotState::Disabled => ServerState::Disabled,
            SlotState::Hidden { reason } => ServerState::Hidden { reason },
            SlotState::Cancelled => ServerState::Cancelled,
        };
        Self {
            key: slot.key.clone(),
            required: slot.config.is_required(),
            plugin: slot.plugin.clone(),
            state,
        }
    }

    /// The server.
    #[must_use]
    pub fn key(&self) -> &McpServerKey {
        &self.key
    }

    /// The plugin that it came with, by the name that the plugin gives itself (K9).
    #[must_use]
    pub fn plugin(&self) -> Option<&str> {
        self.plugin.as_deref()
    }

    /// Whether the configuration says that nothing works without it (R1).
    #[must_use]
    pub fn is_required(&self) -> bool {
        self.required
    }

    /// What has become of it.
    #[must_use]
    pub fn state(&self) -> &ServerState {
        &self.state
    }
}
