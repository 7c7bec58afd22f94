//! An environment as sessions and configuration files write it.

use std::borrow::Borrow;
use std::path::{Path, PathBuf};

use mcp_runtime::{
    CommandExecutor, ElicitationPolicy, EmptyCommand, Environment, EnvironmentId, InvalidName,
    MultiEnvironment, Quoting, SandboxState, ServerConfig,
};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// The members of an environment; what is under `servers` is kept as it was given.
#[derive(Debug, Deserialize)]
pub(crate) struct EnvironmentMembers<R> {
    id: String,
    cwd: Option<PathBuf>,
    selected: Option<bool>,
    servers: Option<R>,
    executor: Option<ExecutorMembers>,
    sandbox_state: Option<SandboxState>,
    #[serde(default)]
    permissions: PermissionsMembers,
    /// `null`: none.
    #[serde(default, deserialize_with = "given")]
    launcher: Option<Option<PathBuf>>,
    #[serde(default)]
    plugin_roots: Vec<PathBuf>,
}

impl<R> EnvironmentMembers<R> {
    /// Whether servers of plugins may be among its own.
    pub(crate) fn has_plugins(&self) -> bool {
        !self.plugin_roots.is_empty()
    }
}

/// Settings beside servers and environments.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
pub(crate) struct Features {
    #[serde(default)]
    multi_environment_mcp: bool,
}

impl Features {
    /// Whether the servers of every selected environment are exposed (K8).
    pub(crate) fn multi_environment(self) -> MultiEnvironment {
        self.multi_environment_mcp.into()
    }
}

/// What its servers run behind.
#[derive(Debug, Deserialize)]
struct ExecutorMembers {
    argv: Vec<String>,
    quoting: QuotingName,
    #[serde(default)]
    env_vars: Vec<String>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum QuotingName {
    None,
    PosixSh,
}

/// What its servers are allowed. What restricts them must not be ignored, so there are no others.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PermissionsMembers {
    elicitation: Option<ElicitationName>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ElicitationName {
    Ask,
    Decline,
}

impl PermissionsMembers {
    /// Whether its servers may ask a person anything; `None` where nothing is said of it.
    pub(crate) fn elicitation(self) -> Option<ElicitationPolicy> {
        self.elicitation.map(|name| match name {
            ElicitationName::Ask => ElicitationPolicy::Ask,
            ElicitationName::Decline => ElicitationPolicy::Decline,
        })
    }
}

/// What is wrong with an environment.
#[derive(Debug, thiserror::Error)]
pub(crate) enum InvalidEnvironment {
    #[error("the id of an environment is not valid")]
    Id(#[source] InvalidName),
    #[error("the executor of environment `{0}` is not valid")]
    Executor(EnvironmentId, #[source] EmptyCommand),
}

/// A member that is there, though it may be `null`.
pub(crate) fn given<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

impl<R: Borrow<RawValue>> EnvironmentMembers<R> {
    /// The one that a runtime has without any.
    pub(crate) fn local() -> Self {
        Self {
            id: "local".to_owned(),
            cwd: None,
            selected: None,
            servers: None,
            executor: None,
            sandbox_state: None,
            permissions: PermissionsMembers::default(),
            launcher: None,
            plugin_roots: Vec::new(),
        }
    }

    /// The environment, with the servers that `read` finds. `launcher` is that of whoever says nothing of its own.
    pub(crate) fn environment<E: From<InvalidEnvironment>>(
        self,
        launcher: Option<&Path>,
        read: impl FnOnce(&EnvironmentId, &RawValue) -> Result<Vec<ServerConfig>, E>,
    ) -> Result<Environment, E> {
        let id = EnvironmentId::new(self.id).map_err(InvalidEnvironment::Id)?;
        let mut environment = Environment::new(id.clone()).selected(self.selected.unwrap_or(true));
        if let Some(cwd) = self.cwd {
            environment = environment.cwd(cwd);
        }
        if let Some(executor) = self.executor {
            let executor = executor.executor();
            let executor =
                executor.map_err(|error| InvalidEnvironment::Executor(id.clone(), error));
            environment = environment.executor(executor?);
        }
        if let Some(policy) = self.permissions.elicitation() {
            environment = environment.elicitation(policy);
        }
        if let Some(state) = self.sandbox_state {
            environment = environment.sandbox_state(state);
        }
        if let Some(launcher) = self.launcher.unwrap_or(launcher.map(Path::to_owned)) {
            environment = environment.launcher(launcher);
        }
        if let Some(servers) = &self.servers {
            environment = environment.servers(read(&id, servers.borrow())?);
        }
        let roots = self.plugin_roots.into_iter();
        Ok(roots.fold(environment, Environment::plugin_root))
    }
}

impl ExecutorMembers {
    fn executor(self) -> Result<CommandExecutor, EmptyCommand> {
        let quoting = match self.quoting {
            QuotingName::None => Quoting::None,
            QuotingName::PosixSh => Quoting::PosixSh,
        };
        let executor = CommandExecutor::new(self.argv, quoting)?;
        let variables = self.env_vars.into_iter();
        Ok(variables.fold(executor, CommandExecutor::env_var))
    }
}
