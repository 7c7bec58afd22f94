//! The facade: everything a host does with its servers.

mod query;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use mcp_keys::{EnvironmentId, NameProfile};
use mcp_sandbox_meta::SandboxState;
use tokio::runtime::Handle;

use crate::authority::{Authorities, Authority, UnknownEnvironment};
use crate::binding::Binding;
use crate::builder::McpRuntimeBuilder;
use crate::call::{ApprovalPolicy, Gates};
use crate::config::PluginError;
use crate::connection::Connection;
use crate::deadline::Deadline;
use crate::launcher::Launcher;
use crate::permissions::ElicitationPolicy;
use crate::startup::Starter;
use crate::status::{ServerState, ServerStatus};
use crate::view::{SelectionError, View, Views};

/// A host's connections to its MCP servers.
///
/// Dropping it ends every server. [`shutdown`](Self::shutdown) does the same, waits for it, and tells what had to be
/// killed.
#[derive(Debug)]
pub struct McpRuntime {
    views: Views,
    starter: Starter,
    executor: Handle,
    profile: NameProfile,
    authorities: Arc<Authorities>,
    gates: Arc<Gates>,
    plugin_errors: Vec<PluginError>,
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
        views: Views,
        starter: Starter,
        profile: NameProfile,
        authorities: Arc<Authorities>,
        gates: Gates,
        plugin_errors: Vec<PluginError>,
    ) -> Self {
        let runtime = Self {
            views,
            starter,
            executor: Handle::current(),
            profile,
            authorities,
            gates: Arc::new(gates),
            plugin_errors,
        };
        runtime.start_fresh();
        runtime
    }

    /// Starts what is exposed for the first time.
    fn start_fresh(&self) {
        for slot in self.views.fresh() {
            self.executor.spawn(self.starter.clone().run(slot));
        }
    }

    /// Waits until every server has started, failed, or been given up (R1). Each has its own deadline, so this ends. A
    /// server that is being reconnected has started once, and is not waited for.
    pub async fn settled(&self) {
        let view = self.views.current();
        join_all(view.slots().iter().map(|slot| slot.settled())).await;
    }

    /// What has become of every configured server, sorted by key, hidden ones last.
    #[must_use]
    pub fn status(&self) -> Vec<ServerStatus> {
        self.views.look(|view| {
            let slots = view.slots().iter();
            slots.map(|slot| ServerStatus::of(slot)).collect()
        })
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
        self.views.look(|view| self.capture_of(view))
    }

    /// As [`capture`](Self::capture), for a step that selects other environments than the runtime does: these, in this order,
    /// of which the first is the primary one.
    ///
    /// Servers of an environment that was never selected before begin to start, and are in a later capture.
    ///
    /// # Errors
    ///
    /// When there is no such environment, none at all, or one twice.
    pub fn capture_in(
        &self,
        environments: impl IntoIterator<Item = EnvironmentId>,
    ) -> Result<Binding, SelectionError> {
        let view = self.views.of_step(environments)?;
        self.start_fresh();
        Ok(self.capture_of(&view))
    }

    fn capture_of(&self, view: &View) -> Binding {
        let events = &self.starter.connector.events;
        view.capture(&self.profile, &self.authorities, &self.gates, events)
    }

    /// Every environment, selected or not, in the order in which they were given.
    #[must_use]
    pub fn environments(&self) -> &[EnvironmentId] {
        self.views.environments()
    }

    /// Selects an environment, or does not any more; the primary one is the first that is selected, in the order in which
    /// they were given. Later captures see it, earlier ones do not, nor does a call that is prepared.
    ///
    /// Servers of an environment begin to start when it is first selected. Those of one that is not selected any more stay
    /// connected for the bindings that have them, and for when it is selected again.
    ///
    /// # Errors
    ///
    /// When there is no such environment, or it is the only one selected.
    pub fn set_selected(
        &self,
        environment: &EnvironmentId,
        selected: bool,
    ) -> Result<(), SelectionError> {
        self.views.select(environment, selected)?;
        self.start_fresh();
        Ok(())
    }

    /// Changes whether servers of an environment may ask a person anything, see
    /// [`Environment::elicitation`](crate::Environment::elicitation). Later captures see it, earlier ones do not; what is
    /// asked on behalf of no call sees it at once (E1).
    ///
    /// # Errors
    ///
    /// When there is no such environment.
    pub fn set_elicitation(
        &self,
        environment: &EnvironmentId,
        policy: ElicitationPolicy,
    ) -> Result<(), UnknownEnvironment> {
        let change = move |authority: &mut Authority| authority.elicitation = policy;
        self.authorities.change(environment, change)
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
        let slots = self.views.all_slots();
        let at_rest = join_all(slots.iter().map(|slot| slot.at_rest()));
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

    fn connections(&self) -> impl Iterator<Item = Arc<Connection>> + use<> {
        let slots = self.views.all_slots().into_iter();
        slots.filter_map(|slot| slot.connection())
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
