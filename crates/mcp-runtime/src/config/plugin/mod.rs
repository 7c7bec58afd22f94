//! Servers that come with the plugins of an environment (K9).
//!
//! A plugin is a directory with `.codex-plugin/plugin.json`, `.claude-plugin/plugin.json` or `.mcp.json`. The first
//! installation of a plugin in an environment keeps the names of its servers, a further one has its own behind them.

mod error;
mod manifest;
mod root;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mcp_keys::{EnvironmentId, ServerName, installation_name};

pub use error::{PluginError, PluginErrorKind};

use super::{Secret, ServerConfig, StdioTransport, Transport};
use error::Broken;
use manifest::Manifest;
use root::PluginRoot;

/// What stands for the root in a plugin's configuration.
const ROOT: [&str; 3] = [
    "${CLAUDE_PLUGIN_ROOT}",
    "${CODEX_PLUGIN_ROOT}",
    "${PLUGIN_ROOT}",
];

/// A server that came with a plugin.
#[derive(Debug)]
pub(crate) struct InstalledServer {
    pub(crate) config: ServerConfig,
    /// The plugin's name.
    pub(crate) plugin: Arc<str>,
}

/// The plugins of one environment, as they are found one after the other.
#[derive(Debug)]
pub(crate) struct Plugins<'a> {
    environment: &'a EnvironmentId,
    /// Names that servers have already.
    taken: BTreeSet<ServerName>,
    /// Roots that were looked into.
    seen: BTreeSet<PathBuf>,
    /// How often each plugin was found.
    installations: BTreeMap<String, usize>,
    pub(crate) servers: Vec<InstalledServer>,
    pub(crate) errors: Vec<PluginError>,
}

impl<'a> Plugins<'a> {
    /// `taken` are the names of the servers that the environment has without plugins.
    pub(crate) fn new(
        environment: &'a EnvironmentId,
        taken: impl IntoIterator<Item = ServerName>,
    ) -> Self {
        Self {
            environment,
            taken: taken.into_iter().collect(),
            seen: BTreeSet::new(),
            installations: BTreeMap::new(),
            servers: Vec::new(),
            errors: Vec::new(),
        }
    }

    /// Looks for a plugin in a directory. The same one, given again, is no further installation.
    pub(crate) fn look_into(&mut self, root: &Path) {
        if let Err(broken) = self.try_root(root) {
            self.broken(broken);
        }
    }

    fn try_root(&mut self, root: &Path) -> Result<(), Broken> {
        let root = PluginRoot::open(root)?;
        if !self.seen.insert(root.real().to_owned()) {
            return Ok(());
        }
        let text = root.text()?;
        let manifest = Manifest::read(&root)?;
        let plugin = manifest.name.unwrap_or_else(|| root.name());
        let installations = self.installations.entry(plugin.clone()).or_default();
        *installations += 1;
        let installation = (*installations > 1).then(|| root.name());
        let (plugin, file) = (Arc::<str>::from(plugin), manifest.file);
        let (servers, rejected) = manifest.servers.into_parts();
        for error in rejected {
            self.broken(Broken::config(&file, error));
        }
        for config in servers {
            let config = in_root(config, text);
            match self.named(config, installation.as_deref()) {
                Ok(config) => self.servers.push(InstalledServer {
                    config,
                    plugin: plugin.clone(),
                }),
                Err(kind) => self.broken(Broken::new(&file, kind)),
            }
        }
        Ok(())
    }

    /// The server under the name that it has in this environment.
    fn named(
        &mut self,
        config: ServerConfig,
        installation: Option<&str>,
    ) -> Result<ServerConfig, PluginErrorKind> {
        let server = match installation {
            None => config.name().clone(),
            Some(installation) => {
                installation_name(config.name(), installation).map_err(|source| {
                    let server = config.name().clone();
                    PluginErrorKind::Installation { server, source }
                })?
            }
        };
        if !self.taken.insert(server.clone()) {
            return Err(PluginErrorKind::NameTaken { server });
        }
        Ok(config.called(server))
    }

    fn broken(&mut self, broken: Broken) {
        self.errors.push(PluginError::new(self.environment, broken));
    }
}

/// The server as it is in the plugin's root: what it says of the root is put in, and paths begin there.
fn in_root(config: ServerConfig, root: &str) -> ServerConfig {
    config.with_transport(|transport| match transport {
        Transport::Stdio(stdio) => Transport::Stdio(process_in_root(stdio, root)),
        Transport::Http(http) => Transport::Http(http),
    })
}

fn process_in_root(stdio: StdioTransport, root: &str) -> StdioTransport {
    let put_in = |text: &str| {
        let text = text.to_owned();
        ROOT.iter()
            .fold(text, |text, name| text.replace(name, root))
    };
    let path = |text: &str| Path::new(root).join(put_in(text));
    let command = put_in(&stdio.command);
    // A bare name is looked up in `PATH`.
    let is_path = Path::new(&command).components().count() > 1;
    let command = match path(&command).to_str() {
        Some(path) if is_path => path.to_owned(),
        _ => command,
    };
    let directory = |cwd: PathBuf| match cwd.to_str() {
        Some(text) => path(text),
        None => Path::new(root).join(cwd),
    };
    let env = stdio.env.into_iter();
    let env = env.map(|(name, value)| (name, Secret::new(put_in(value.reveal()))));
    StdioTransport {
        command,
        args: stdio.args.iter().map(|arg| put_in(arg)).collect(),
        env: env.collect(),
        cwd: Some(stdio.cwd.map_or_else(|| root.into(), directory)),
        env_vars: stdio.env_vars,
        env_in_argv: stdio.env_in_argv,
    }
}

#[cfg(test)]
mod tests;
