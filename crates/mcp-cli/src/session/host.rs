//! The runtimes of a session, and what is asked of one.

mod call;
mod query;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mcp_runtime::{Binding, EnvironmentId, ListingShare, McpRuntime, SelectionError};
use tokio_util::sync::CancellationToken;

use super::MAIN;
use super::answer::Success;
use super::bindings::Held;
use super::caller::{Caller, Open};
use super::calls::Calls;
use super::lines::Output;
use super::operation::{Change, Reply, Request, Target};
use super::start::{Begun, Rejected, Start};
use crate::report::{ErrorReport, PluginReport, ServerReport, ToolList};

/// The runtimes by name. They share listings.
#[derive(Debug)]
pub(super) struct Hosts {
    hosts: Mutex<HashMap<String, Arc<Host>>>,
    share: ListingShare,
    open: Open,
    main_is_over: CancellationToken,
}

/// One runtime.
#[derive(Debug)]
pub(super) struct Host {
    runtime: McpRuntime,
    rejected: Vec<Rejected>,
    calls: Calls,
    held: Held,
}

/// A runtime whose `start` has not been answered. Dropping it drops the runtime.
#[derive(Debug)]
pub(super) struct Starting {
    host: Arc<Host>,
    name: String,
    hosts: Arc<Hosts>,
    settled: bool,
}

impl Hosts {
    pub(super) fn new(share: ListingShare) -> Self {
        Self {
            hosts: Mutex::default(),
            share,
            open: Open::default(),
            main_is_over: CancellationToken::new(),
        }
    }

    /// Starts a runtime under a name that is free.
    pub(super) fn start(
        self: &Arc<Self>,
        start: Start,
        output: &Output,
    ) -> Result<Starting, ErrorReport> {
        let name = start.runtime().to_owned();
        let mut hosts = self.hosts();
        if hosts.contains_key(&name) {
            return Err(ErrorReport::invalid(format!(
                "runtime `{name}` is started already"
            )));
        }
        let calls = Calls::default();
        let caller = Caller {
            runtime: (name != MAIN).then(|| name.clone()),
            calls: calls.clone(),
            output: output.clone(),
            open: self.open.clone(),
        };
        let Begun {
            runtime,
            events,
            rejected,
        } = start.begin(&self.share, &caller)?;
        super::events::forward(events, name.clone(), calls.clone(), output.clone());
        let host = Arc::new(Host {
            runtime,
            rejected,
            calls,
            held: Held::default(),
        });
        hosts.insert(name.clone(), host.clone());
        Ok(Starting {
            host,
            name,
            hosts: self.clone(),
            settled: false,
        })
    }

    /// Answers what a runtime asked, whichever it was.
    pub(super) fn reply(&self, reply: Reply) -> Result<(), ErrorReport> {
        match reply {
            Reply::Elicitation(reply) => reply.answer(&self.open.elicitations),
            Reply::Hook(reply) => reply.answer(&self.open.hooks),
            Reply::Approval(reply) => reply.answer(&self.open.approvals),
            Reply::Access(reply) => reply.answer(&self.open.accesses),
        }
    }

    /// The runtime of a name.
    pub(super) fn get(&self, name: &str) -> Result<Arc<Host>, ErrorReport> {
        let host = self.hosts().get(name).cloned();
        host.ok_or_else(|| {
            ErrorReport::invalid(format!(
                "runtime `{name}` is not started; send `start` first"
            ))
        })
    }

    /// Shuts one runtime down; its name is free afterwards.
    pub(super) async fn shut_down(&self, name: &str, host: &Arc<Host>) -> Success {
        let report = host
            .runtime
            .shutdown(McpRuntime::DEFAULT_SHUTDOWN_TIMEOUT)
            .await;
        self.forget(name, host);
        if name == MAIN {
            self.main_is_over.cancel();
        }
        Success::Shutdown {
            killed: report.killed().to_vec(),
        }
    }

    /// Resolves when the main runtime was shut down.
    pub(super) async fn main_is_over(&self) {
        self.main_is_over.cancelled().await;
    }

    /// Every runtime, for whoever ends them. No start that is cancelled from now on ends its own without being waited for.
    pub(super) fn take(&self) -> Vec<Arc<Host>> {
        self.hosts().drain().map(|(_, host)| host).collect()
    }

    /// Shuts runtimes down, at the same time.
    pub(super) async fn shut_down_all(hosts: Vec<Arc<Host>>) {
        let mut ending = tokio::task::JoinSet::new();
        for host in hosts {
            ending.spawn(async move {
                host.runtime
                    .shutdown(McpRuntime::DEFAULT_SHUTDOWN_TIMEOUT)
                    .await
            });
        }
        while ending.join_next().await.is_some() {}
    }

    fn forget(&self, name: &str, host: &Arc<Host>) {
        let mut hosts = self.hosts();
        if hosts
            .get(name)
            .is_some_and(|current| Arc::ptr_eq(current, host))
        {
            hosts.remove(name);
        }
    }

    fn hosts(&self) -> MutexGuard<'_, HashMap<String, Arc<Host>>> {
        // Every map operation is complete or has not begun.
        self.hosts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Starting {
    /// Waits until every startup has settled. Dropped before, it drops its runtime.
    pub(super) async fn settle(mut self) -> Success {
        self.host.runtime.settled().await;
        self.settled = true;
        self.host.status()
    }
}

impl Drop for Starting {
    fn drop(&mut self) {
        if !self.settled {
            self.hosts.forget(&self.name, &self.host);
        }
    }
}

impl Host {
    /// What there is now.
    pub(super) fn capture(&self) -> Binding {
        self.runtime.capture()
    }

    /// What there is for a step that selects these environments.
    pub(super) fn capture_in(&self, environments: Vec<String>) -> Result<Binding, ErrorReport> {
        let environments = environments.into_iter().map(EnvironmentId::new);
        let environments: Result<Vec<_>, _> = environments.collect();
        let environments = environments.map_err(|error| ErrorReport::invalid_because(&error))?;
        let binding = self.runtime.capture_in(environments);
        binding.map_err(|error| ErrorReport::invalid_because(&error))
    }

    /// Changes an environment for what is captured from now on: all that is asked for, or nothing.
    pub(super) fn change(&self, change: Change) -> Result<(), ErrorReport> {
        let Change {
            environment_id,
            sandbox_state,
            launcher,
            permissions,
            selected,
        } = change;
        let environment = EnvironmentId::new(environment_id)
            .map_err(|error| ErrorReport::invalid_because(&error))?;
        let (runtime, invalid) = (&self.runtime, ErrorReport::invalid_because);
        if !runtime.environments().contains(&environment) {
            return Err(invalid(&SelectionError::Unknown(environment)));
        }
        if let Some(selected) = selected {
            let changed = runtime.set_selected(&environment, selected);
            changed.map_err(|error| invalid(&error))?;
        }
        if let Some(policy) = permissions.elicitation() {
            let changed = runtime.set_elicitation(&environment, policy);
            changed.map_err(|error| invalid(&error))?;
        }
        if let Some(state) = sandbox_state {
            let changed = runtime.set_sandbox_state(&environment, state);
            changed.map_err(|error| invalid(&error))?;
        }
        if let Some(launcher) = launcher {
            let changed = runtime.set_launcher(&environment, launcher);
            changed.map_err(|error| invalid(&error))?;
        }
        Ok(())
    }

    /// Answers one request; `id` is its own, `binding` what there was when it came.
    pub(super) async fn answer(
        &self,
        request: Request,
        binding: &Binding,
        id: &str,
    ) -> Result<Success, ErrorReport> {
        match request {
            Request::Status => Ok(self.status()),
            Request::Tools => Ok(Success::Tools {
                tools: ToolList(binding.clone()),
            }),
            Request::Call(call) => self.call(*call, binding, id).await,
            Request::Refresh(target) => self.refresh(target).await,
            Request::Resources(list) => self.resources(list).await,
            Request::ResourceTemplates(list) => self.resource_templates(list).await,
            Request::ReadResource(read) => self.read_resource(read).await,
            Request::Prompts(list) => self.prompts(list).await,
            Request::GetPrompt(get) => self.get_prompt(get).await,
        }
    }

    fn status(&self) -> Success {
        let servers = self.runtime.status();
        let rejected = self.rejected.iter().map(Rejected::report);
        let plugin_errors = self.runtime.plugin_errors().iter();
        Success::Servers {
            servers: servers
                .iter()
                .map(ServerReport::new)
                .chain(rejected)
                .collect(),
            plugin_errors: plugin_errors.map(PluginReport::new).collect(),
        }
    }

    async fn refresh(&self, target: Target) -> Result<Success, ErrorReport> {
        let Some(server) = &target.server else {
            let (tools, errors) = self.runtime.refresh_all().await;
            return match errors.first() {
                None => Ok(Success::Refreshed { tools }),
                Some(error) => Err(ErrorReport::of_query(error)),
            };
        };
        let server = (server.as_str(), target.environment_id.as_deref());
        let tools = self.runtime.refresh(server).await;
        tools
            .map(|tools| Success::Refreshed { tools })
            .map_err(|error| ErrorReport::of_query(&error))
    }
}

fn milliseconds(timeout_ms: f64) -> Result<Duration, ErrorReport> {
    Duration::try_from_secs_f64(timeout_ms / 1_000.0)
        .map_err(|_range| ErrorReport::invalid("`timeout_ms` must be a positive number"))
}
