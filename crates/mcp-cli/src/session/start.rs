//! `start`: from its members to a runtime that is starting.

use std::path::{Path, PathBuf};

use mcp_runtime::{
    Environment, EnvironmentId, ErrorChain, EventStream, ListingShare, McpRuntime, McpServers,
    MultiEnvironment, NameProfile, SandboxState,
};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::caller::Caller;
use super::elicitation::Elicitations;
use super::handlers::Handlers;
use super::operation::given;
use crate::report::{ErrorReport, ServerReport};

/// The members of `start`.
#[derive(Debug, Deserialize)]
pub(super) struct Start {
    #[serde(skip)]
    runtime: String,
    servers: Option<Box<RawValue>>,
    #[serde(default)]
    environments: Vec<EnvironmentMembers>,
    #[serde(default)]
    features: Features,
    /// Of every environment that says nothing of its own.
    launcher: Option<PathBuf>,
    #[serde(default)]
    elicitation: bool,
    #[serde(default)]
    handlers: Handlers,
    name_limit: Option<u32>,
}

#[derive(Debug, Default, Deserialize)]
struct Features {
    #[serde(default)]
    multi_environment_mcp: bool,
}

#[derive(Debug, Default, Deserialize)]
struct EnvironmentMembers {
    id: String,
    cwd: Option<String>,
    selected: Option<bool>,
    servers: Option<Box<RawValue>>,
    executor: Option<Box<RawValue>>,
    sandbox_state: Option<SandboxState>,
    permissions: Option<Box<RawValue>>,
    /// `null`: none.
    #[serde(default, deserialize_with = "given")]
    launcher: Option<Option<PathBuf>>,
    plugin_roots: Option<Vec<String>>,
}

/// A runtime that was just started, and what was wrong with its configuration.
pub(super) struct Begun {
    pub(super) runtime: McpRuntime,
    pub(super) events: EventStream,
    pub(super) rejected: Vec<Rejected>,
}

/// An entry that is no server.
#[derive(Debug)]
pub(super) struct Rejected {
    pub(super) server: String,
    pub(super) environment: Option<EnvironmentId>,
    pub(super) message: String,
}

impl Rejected {
    pub(super) fn report(&self) -> ServerReport {
        ServerReport::rejected(
            &self.server,
            self.environment.as_ref(),
            self.message.as_str(),
        )
    }
}

impl Start {
    pub(super) fn named(mut self, runtime: String) -> Self {
        self.runtime = runtime;
        self
    }

    pub(super) fn runtime(&self) -> &str {
        &self.runtime
    }

    /// Starts the runtime; its servers' fates are not known yet.
    pub(super) fn begin(self, share: &ListingShare, caller: &Caller) -> Result<Begun, ErrorReport> {
        self.refuse_unsupported()?;
        let mut rejected = Vec::new();
        let mut builder = self
            .handlers
            .builder(caller)
            .share_listings(share)
            .multi_environment(MultiEnvironment::from(self.features.multi_environment_mcp))
            .name_profile(profile(self.name_limit)?);
        if self.elicitation {
            builder = builder.elicitation(Elicitations(caller.clone()));
        }
        if let Some(servers) = &self.servers {
            builder = builder.servers(read(servers, None, &mut rejected)?.into_servers());
        }
        let launcher = self.launcher.as_deref();
        for members in environments(self.environments) {
            builder = builder.environment(members.environment(launcher, &mut rejected)?);
        }
        let (runtime, events) = builder
            .start()
            .map_err(|error| ErrorReport::invalid_because(&error))?;
        Ok(Begun {
            runtime,
            events,
            rejected,
        })
    }

    /// What restricts or changes how servers run must not be ignored.
    fn refuse_unsupported(&self) -> Result<(), ErrorReport> {
        let of_environments = self
            .environments
            .iter()
            .flat_map(EnvironmentMembers::unsupported);
        match of_environments.into_iter().find(|(given, _)| *given) {
            Some((_, member)) => Err(ErrorReport::invalid(format!(
                "`{member}` is not supported by this version"
            ))),
            None => Ok(()),
        }
    }
}

/// Those given, and without any the one that a runtime has anyway.
fn environments(mut given: Vec<EnvironmentMembers>) -> Vec<EnvironmentMembers> {
    if given.is_empty() {
        given.push(EnvironmentMembers {
            id: "local".to_owned(),
            ..EnvironmentMembers::default()
        });
    }
    given
}

impl EnvironmentMembers {
    fn unsupported(&self) -> [(bool, &'static str); 3] {
        [
            (self.executor.is_some(), "environments.executor"),
            (self.permissions.is_some(), "environments.permissions"),
            (
                self.plugin_roots
                    .as_ref()
                    .is_some_and(|roots| !roots.is_empty()),
                "environments.plugin_roots",
            ),
        ]
    }

    fn environment(
        self,
        launcher: Option<&Path>,
        rejected: &mut Vec<Rejected>,
    ) -> Result<Environment, ErrorReport> {
        let id =
            EnvironmentId::new(self.id).map_err(|error| ErrorReport::invalid_because(&error))?;
        let mut environment = Environment::new(id.clone()).selected(self.selected.unwrap_or(true));
        if let Some(cwd) = self.cwd {
            environment = environment.cwd(cwd);
        }
        if let Some(state) = self.sandbox_state {
            environment = environment.sandbox_state(state);
        }
        let launcher = self.launcher.unwrap_or(launcher.map(Path::to_owned));
        if let Some(launcher) = launcher {
            environment = environment.launcher(launcher);
        }
        if let Some(servers) = &self.servers {
            environment = environment.servers(read(servers, Some(&id), rejected)?.into_servers());
        }
        Ok(environment)
    }
}

fn profile(limit: Option<u32>) -> Result<NameProfile, ErrorReport> {
    match limit {
        None | Some(64) => Ok(NameProfile::LIMIT_64),
        Some(128) => Ok(NameProfile::LIMIT_128),
        Some(other) => Err(ErrorReport::invalid(format!(
            "`name_limit` must be 64 or 128, not {other}"
        ))),
    }
}

/// Reads entries; those that are wrong are put aside, since they cost nobody else anything.
fn read(
    servers: &RawValue,
    environment: Option<&EnvironmentId>,
    rejected: &mut Vec<Rejected>,
) -> Result<McpServers, ErrorReport> {
    let servers = McpServers::from_entries(servers.get())
        .map_err(|error| ErrorReport::invalid_because(&error))?;
    for member in servers.unknown_members() {
        tracing::warn!(
            member,
            "a member of the configuration that nobody here knows"
        );
    }
    rejected.extend(servers.rejected().iter().map(|error| Rejected {
        server: error.server().unwrap_or_default().to_owned(),
        environment: environment.cloned(),
        message: ErrorChain(error).to_string(),
    }));
    Ok(servers)
}
