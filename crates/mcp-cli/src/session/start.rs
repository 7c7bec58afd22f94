//! `start`: from its members to a runtime that is starting.

use std::path::PathBuf;

use mcp_runtime::{
    EnvironmentId, ErrorChain, EventStream, ListingShare, McpRuntime, McpServers, NameProfile,
};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::caller::Caller;
use super::elicitation::Elicitations;
use super::handlers::Handlers;
use crate::environment::{EnvironmentMembers, Features, InvalidEnvironment};
use crate::report::{ErrorReport, ServerReport};

/// The members of `start`.
#[derive(Debug, Deserialize)]
pub(super) struct Start {
    #[serde(skip)]
    runtime: String,
    servers: Option<Box<RawValue>>,
    #[serde(default)]
    environments: Vec<EnvironmentMembers<Box<RawValue>>>,
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
        let mut rejected = Vec::new();
        let mut builder = self
            .handlers
            .builder(caller)
            .share_listings(share)
            .multi_environment(self.features.multi_environment())
            .name_profile(profile(self.name_limit)?);
        if self.elicitation {
            builder = builder.elicitation(Elicitations(caller.clone()));
        }
        if let Some(servers) = &self.servers {
            builder = builder.servers(read(servers, None, &mut rejected)?.into_servers());
        }
        let (launcher, mut environments) = (self.launcher.as_deref(), self.environments);
        if environments.is_empty() {
            environments.push(EnvironmentMembers::local());
        }
        for members in environments {
            let read = |id: &EnvironmentId, servers: &RawValue| -> Result<_, ErrorReport> {
                Ok(read(servers, Some(id), &mut rejected)?.into_servers())
            };
            builder = builder.environment(members.environment(launcher, read)?);
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
}

impl From<InvalidEnvironment> for ErrorReport {
    fn from(error: InvalidEnvironment) -> Self {
        Self::invalid_because(&error)
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
