//! Every configured server before any is started: whose it is, where it runs, and under which key a step sees it.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use mcp_keys::{EnvironmentId, Exposure, McpServerKey, MultiEnvironment, SelectedEnvironments};
use mcp_telemetry::Telemetry;

use crate::builder::BuildError;
use crate::config::{PluginError, ServerConfig};
use crate::environment::Environment;
use crate::executor::Placement;
use crate::slot::{Slot, SlotState};

/// The servers of the host, of its environments, and of their plugins.
#[derive(Debug, Default)]
pub(crate) struct Roster {
    configured: BTreeMap<McpServerKey, Configured>,
    /// What is wrong with plugins.
    pub(crate) plugin_errors: Vec<PluginError>,
    /// Where is recorded what becomes of the servers.
    pub(crate) telemetry: Telemetry,
}

/// The servers that were exposed under any selection, by the key they are exposed under and that of their owner.
#[derive(Debug, Default)]
pub(crate) struct Exposed {
    slots: BTreeMap<(McpServerKey, McpServerKey), Arc<Slot>>,
    fresh: Vec<Arc<Slot>>,
}

/// What is known of a server before it is started.
#[derive(Debug, Clone)]
pub(crate) struct Configured {
    pub(crate) config: ServerConfig,
    pub(crate) placement: Placement,
    /// The plugin that it came with.
    pub(crate) plugin: Option<Arc<str>>,
}

impl Roster {
    /// Takes the servers of the host and of the environments. Reads the manifests of plugins.
    pub(crate) fn of(
        hosts: Vec<ServerConfig>,
        environments: &mut [Environment],
        selected: &SelectedEnvironments,
    ) -> Result<Self, BuildError> {
        let mut roster = Self::default();
        let primary = environments
            .iter()
            .find(|environment| environment.id() == selected.primary());
        // The host's servers run on this machine, whatever the primary environment is.
        let placement = primary.map(Environment::placement).cloned();
        let placement = placement.filter(|placement| placement.executor.is_local());
        let placement = placement.unwrap_or_default();
        for config in hosts {
            let key = McpServerKey::host(config.name().clone());
            roster.add(key, Configured::new(config, &placement))?;
        }
        let mut seen = Vec::new();
        for environment in environments {
            let id = environment.id().clone();
            if seen.contains(&id) {
                return Err(BuildError::EnvironmentTwice(id));
            }
            roster.add_environment(&id, environment)?;
            seen.push(id);
        }
        Ok(roster)
    }

    fn add_environment(
        &mut self,
        id: &EnvironmentId,
        environment: &mut Environment,
    ) -> Result<(), BuildError> {
        let placement = environment.placement().clone();
        let plugins = environment.plugins();
        self.plugin_errors.extend(plugins.errors);
        let installed = plugins.servers.into_iter().map(|server| Configured {
            plugin: Some(server.plugin),
            ..Configured::new(server.config, &placement)
        });
        let installed: Vec<_> = installed.collect();
        let configured = environment.take_servers().into_iter();
        let configured = configured.map(|config| Configured::new(config, &placement));
        for server in configured.chain(installed) {
            let name = server.config.name().clone();
            self.add(McpServerKey::in_environment(id.clone(), name), server)?;
        }
        Ok(())
    }

    fn add(&mut self, key: McpServerKey, server: Configured) -> Result<(), BuildError> {
        match self.configured.insert(key.clone(), server) {
            None => Ok(()),
            Some(_) => Err(BuildError::ServerTwice(key)),
        }
    }

    /// A slot for every server, sorted by the key it is exposed under; the hidden ones last (K8). One that was exposed before
    /// is the same again.
    pub(crate) fn slots(
        &self,
        feature: MultiEnvironment,
        selected: &SelectedEnvironments,
        exposed: &mut Exposed,
    ) -> Vec<Arc<Slot>> {
        let exposure = Exposure::new(feature, self.configured.keys().cloned(), selected);
        let mut slots = Vec::new();
        for (key, owner) in exposure.exposed() {
            let Some(server) = self.configured.get(owner) else {
                continue;
            };
            slots.push(exposed.slot(key, owner, server, &self.telemetry));
        }
        for hidden in exposure.hidden() {
            let Some(server) = self.configured.get(hidden.key()) else {
                continue;
            };
            let (key, reason) = (hidden.key(), hidden.reason());
            let state = SlotState::Hidden { reason };
            let telemetry = &self.telemetry;
            slots.push(Arc::new(Slot::new(key, key, server, state, telemetry)));
        }
        slots
    }
}

impl Exposed {
    /// The slot of a server under this key.
    fn slot(
        &mut self,
        key: &McpServerKey,
        owner: &McpServerKey,
        server: &Configured,
        telemetry: &Telemetry,
    ) -> Arc<Slot> {
        let vacant = match self.slots.entry((key.clone(), owner.clone())) {
            Entry::Occupied(slot) => return slot.get().clone(),
            Entry::Vacant(vacant) => vacant,
        };
        let is_enabled = server.config.is_enabled();
        let state = match is_enabled {
            true => SlotState::Starting,
            false => SlotState::Disabled,
        };
        let slot = Arc::new(Slot::new(key, owner, server, state, telemetry));
        if is_enabled {
            self.fresh.push(slot.clone());
        }
        vacant.insert(slot).clone()
    }

    /// Every server that was ever exposed, disabled ones included.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Arc<Slot>> {
        self.slots.values()
    }

    /// Those that nobody has started yet, each once.
    pub(crate) fn take_fresh(&mut self) -> Vec<Arc<Slot>> {
        std::mem::take(&mut self.fresh)
    }
}

impl Configured {
    fn new(config: ServerConfig, placement: &Placement) -> Self {
        Self {
            config,
            placement: placement.clone(),
            plugin: None,
        }
    }
}
