//! A place where servers run.

use std::path::PathBuf;
use std::sync::Arc;

use mcp_keys::EnvironmentId;
use mcp_sandbox_meta::SandboxState;

use crate::authority::Authority;
use crate::config::{Plugins, ServerConfig};
use crate::executor::{Executor, Placement};
use crate::launcher::Launcher;
use crate::permissions::ElicitationPolicy;

/// A place where servers run: its id, its working directory, and the servers it owns.
///
/// ```
/// use mcp_runtime::{Environment, ServerConfig, StdioTransport};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let devbox = Environment::new("devbox".parse()?)
///     .server(ServerConfig::stdio("docs".parse()?, StdioTransport::new("docs-server")));
/// assert_eq!(devbox.id().as_str(), "devbox");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Environment {
    id: EnvironmentId,
    placement: Placement,
    selected: bool,
    authority: Authority,
    servers: Vec<ServerConfig>,
    plugin_roots: Vec<PathBuf>,
}

impl Environment {
    /// An environment on this machine, selected, without servers.
    #[must_use]
    pub fn new(id: EnvironmentId) -> Self {
        Self {
            id,
            placement: Placement::default(),
            selected: true,
            authority: Authority::default(),
            servers: Vec::new(),
            plugin_roots: Vec::new(),
        }
    }

    /// Where those of its servers that are processes run; on this machine, unless this says otherwise (R4).
    #[must_use]
    pub fn executor(mut self, executor: impl Into<Executor>) -> Self {
        self.placement.executor = executor.into();
        self
    }

    /// The working directory of its servers, unless they configure one: a directory on the side of the executor.
    #[must_use]
    pub fn cwd(mut self, cwd: impl Into<PathBuf>) -> Self {
        self.placement.cwd = Some(cwd.into());
        self
    }

    /// Whether steps use it. The first selected environment is the primary one.
    #[must_use]
    pub fn selected(mut self, selected: bool) -> Self {
        self.selected = selected;
        self
    }

    /// The sandbox state under which calls of its servers, and of the host's where it is the primary one, are made. Servers
    /// that want to know it are told, whole and to the byte (S2, S3).
    #[must_use]
    pub fn sandbox_state(mut self, state: SandboxState) -> Self {
        self.authority.sandbox_state = Some(state);
        self
    }

    /// The executable that applies the sandbox state, an absolute path. It goes with the state, to servers that can use it:
    /// those on standard input and output of a process on this machine (S4).
    ///
    /// Before it is sent it is asked whether it is one, at the first call that it would go with (S5). One that cannot be
    /// used is left out, and the log says why; the call is made all the same.
    #[must_use]
    pub fn launcher(mut self, executable: impl Into<PathBuf>) -> Self {
        self.authority.launcher = Some(Arc::new(Launcher::new(executable.into())));
        self
    }

    /// Whether its servers, and the host's where it is the primary one, may ask a person anything (E1). They may, unless this
    /// says otherwise and where the runtime has a handler for that.
    #[must_use]
    pub fn elicitation(mut self, policy: ElicitationPolicy) -> Self {
        self.authority.elicitation = policy;
        self
    }

    /// Adds a server that this environment owns.
    #[must_use]
    pub fn server(mut self, server: ServerConfig) -> Self {
        self.servers.push(server);
        self
    }

    /// Adds servers that this environment owns.
    #[must_use]
    pub fn servers(mut self, servers: impl IntoIterator<Item = ServerConfig>) -> Self {
        self.servers.extend(servers);
        self
    }

    /// Adds the servers of the plugin in a directory of this machine (K9), which is read when the runtime starts. It is
    /// described by `.codex-plugin/plugin.json` or `.claude-plugin/plugin.json`, whose `mcpServers` are the servers or the path
    /// of a file that has them, and otherwise by `.mcp.json`.
    ///
    /// The plugin's own root is the working directory of its servers, begins their relative paths, and stands for
    /// `${CLAUDE_PLUGIN_ROOT}`. Behind a command executor it has to be at the same path on the far side.
    ///
    /// A further installation of a plugin that a root added earlier has, by its name, adds servers called
    /// `<server>@<directory>`. What is wrong with a plugin costs only that: see [`McpRuntime::plugin_errors`].
    ///
    /// [`McpRuntime::plugin_errors`]: crate::McpRuntime::plugin_errors
    #[must_use]
    pub fn plugin_root(mut self, root: impl Into<PathBuf>) -> Self {
        self.plugin_roots.push(root.into());
        self
    }

    /// Its id.
    #[must_use]
    pub fn id(&self) -> &EnvironmentId {
        &self.id
    }

    pub(crate) fn authority(&self) -> &Authority {
        &self.authority
    }

    pub(crate) fn is_selected(&self) -> bool {
        self.selected
    }

    pub(crate) fn placement(&self) -> &Placement {
        &self.placement
    }

    /// The plugins that are installed in it. Reads files.
    pub(crate) fn plugins(&self) -> Plugins<'_> {
        let configured = self.servers.iter().map(|server| server.name().clone());
        let mut plugins = Plugins::new(&self.id, configured);
        for root in &self.plugin_roots {
            plugins.look_into(root);
        }
        plugins
    }

    pub(crate) fn take_servers(&mut self) -> Vec<ServerConfig> {
        std::mem::take(&mut self.servers)
    }
}
