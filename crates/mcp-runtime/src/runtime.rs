//! The facade: everything a host does with its servers.

mod query;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwapOption;
use futures_util::future::join_all;
use mcp_keys::{EnvironmentId, NameProfile};
use mcp_sandbox_meta::SandboxState;

use crate::authority::{Authorities, Authority, UnknownEnvironment};
use crate::binding::Binding;
use crate::builder::McpRuntimeBuilder;
use crate::call::{ApprovalPolicy, Gates};
use crate::config::PluginError;
use crate::connection::Connection;
use crate::deadline::Deadline;
use crate::event::RuntimeEvent;
use crate::launcher::Launcher;
use crate::scope::Scope;
use crate::slot::{Slot, SlotState};
use crate::startup::Starter;
use crate::status::{ServerState, ServerStatus};

/// A host's connections to its MCP servers.
///
/// Dropping it ends every server. [`shutdown`](Self::shutdown) does the same, waits for it, and tells what had to be
/// killed.
#[derive(Debug)]
pub struct McpRuntime {
    slots: Vec<Arc<Slot>>,
    starter: Starter,
    profile: NameProfile,
    scope: Scope,
    authorities: Authorities,
    gates: Arc<Gates>,
    plugin_errors: Vec<PluginError>,
    /// The last capture, for as long as it is current.
    captured: ArcSwapOption<Binding>,
}

/// What a shutdown had to do (R11).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ShutdownReport {
    killed: Vec<u32>,
}

impl ShutdownReport {
    /// The ids of the server processes that had to be killed, or left others behind that had to be: neither the end of
    /// their input nor the request to terminate had ended them in time.
    #[must_use]
    pub fn killed(&self) -> &[u32] {
        &self.killed
    }
}

impl McpRuntime {
    /// How long a shutdown takes at most, unless the host says otherwise (R11).
    pub const DEFAULT_SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(5);

    /// Begins a new runtime, whose calls are approved like this (A1).
    #[must_use]
    pub fn builder(approval: ApprovalPolicy) -> McpRuntimeBuilder {
        McpRuntimeBuilder::new(approval)
    }

    pub(crate) fn run(
        slots: Vec<Arc<Slot>>,
        starter: Starter,
        profile: NameProfile,
        scope: Scope,
        authorities: Authorities,
        gates: Gates,
        plugin_errors: Vec<PluginError>,
    ) -> Self {
        for slot in &slots {
            if matches!(slot.state(), SlotState::Starting) {
                tokio::spawn(starter.clone().run(slot.clone()));
            }
        }
        Self {
            slots,
            starter,
            profile,
            scope,
            authorities,
            gates: Arc::new(gates),
            plugin_errors,
            captured: ArcSwapOption::empty(),
        }
    }

    /// Waits until every server has started, failed, or been given up (R1). Each has its own deadline, so this ends. A
    /// server that is being reconnected has started once, and is not waited for.
    pub async fn settled(&self) {
        join_all(self.slots.iter().map(|slot| slot.settled())).await;
    }

    /// What has become of every configured server, sorted by key, hidden ones last.
    #[must_use]
    pub fn status(&self) -> Vec<ServerStatus> {
        self.slots
            .iter()
            .map(|slot| ServerStatus::of(slot))
            .collect()
    }

    /// The required servers that are not ready (R1); empty when the host can work.
    #[must_use]
    pub fn missing(&self) -> Vec<ServerStatus> {
        let required = self.status().into_iter().filter(ServerStatus::is_required);
        required
            .filter(|status| !matches!(status.state(), ServerState::Ready { .. }))
            .collect()
    }

    /// What is wrong with the plugins of environments (K9); empty when nothing is. Each costs its own plugin or server.
    #[must_use]
    pub fn plugin_errors(&self) -> &[PluginError] {
        &self.plugin_errors
    }

    /// Captures what can be called now (B1). Waits for nobody: a server that becomes ready later is in the next one.
    #[must_use]
    pub fn capture(&self) -> Binding {
        if let Some(binding) = self.captured.load().as_deref()
            && binding.is_current(&self.slots, &self.authorities)
        {
            return binding.clone();
        }
        let authorities = self.authorities.capture();
        let binding = Binding::capture(
            &self.slots,
            &self.profile,
            &self.scope,
            authorities,
            &self.gates,
        );
        for tools in binding.collisions() {
            let tools = tools.to_vec();
            self.starter
                .connector
                .events
                .state(RuntimeEvent::NameCollision { tools });
        }
        self.captured.store(Some(Arc::new(binding.clone())));
        binding
    }

    /// Changes the sandbox state of an environment; `None` takes it away. Later captures see it, earlier ones do not (S8).
    ///
    /// # Errors
    ///
    /// When there is no such environment.
    pub fn set_sandbox_state(
        &self,
        environment: &EnvironmentId,
        state: Option<SandboxState>,
    ) -> Result<(), UnknownEnvironment> {
        let change = move |authority: &mut Authority| authority.sandbox_state.clone_from(&state);
        self.authorities.change(environment, change)
    }

    /// Changes the launcher of an environment, see [`Environment::launcher`](crate::Environment::launcher); `None` takes it
    /// away. Later captures see it, earlier ones do not (S8).
    ///
    /// # Errors
    ///
    /// When there is no such environment.
    pub fn set_launcher(
        &self,
        environment: &EnvironmentId,
        executable: Option<PathBuf>,
    ) -> Result<(), UnknownEnvironment> {
        let launcher = executable.map(|executable| Arc::new(Launcher::new(executable)));
        let change = move |authority: &mut Authority| authority.launcher.clone_from(&launcher);
        self.authorities.change(environment, change)
    }

    /// Ends every server within `timeout`: processes first, protocol politeness within what is left (R11). Doing it
    /// again does nothing more.
    pub async fn shutdown(&self, timeout: Duration) -> ShutdownReport {
        let deadline = Deadline::after(timeout);
        // Before the slots let go of theirs.
        let mut connections: Vec<_> = self.connections().collect();
        self.starter.stop.cancel();
        self.starter.processes.stop();
        // A startup that was just then spawning or shaking hands is given up too, and seen below. What does not come to
        // rest in time is ended by its own drop, and takes no time from the processes.
        let resting = Deadline::after(deadline.remaining().mul_f64(RESTING));
        let at_rest = join_all(self.slots.iter().map(|slot| slot.at_rest()));
        let _ = resting.bound(at_rest).await;
        self.starter.processes.stop();
        connections.extend(self.connections());
        let closing = join_all(connections.iter().map(|connection| connection.close()));
        let (killed, _) = tokio::join!(
            self.starter.processes.ended(&deadline),
            deadline.bound(closing)
        );
        self.starter.connector.events.end();
        ShutdownReport { killed }
    }

    fn connections(&self) -> impl Iterator<Item = Arc<Connection>> {
        self.slots.iter().filter_map(|slot| slot.connection())
    }
}

/// The part of a shutdown's budget during which startups may notice that they are given up. They do at once, unless their
/// executor is busy.
const RESTING: f64 = 0.2;

impl Drop for McpRuntime {
    fn drop(&mut self) {
        // Before the slots let go of theirs.
        let connections: Vec<_> = self.connections().collect();
        self.starter.stop.cancel();
        self.starter.processes.stop();
        for connection in connections {
            connection.abandon();
        }
        self.starter.connector.events.end();
    }
}
