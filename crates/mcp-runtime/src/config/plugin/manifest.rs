//! What a plugin says of itself: its name, and its servers.

use std::path::{Path, PathBuf};

use serde_json::value::RawValue;

use super::error::{Broken, PluginErrorKind};
use super::root::{PluginFile, PluginRoot};
use crate::config::members::Members;
use crate::config::{ConfigError, McpServers, Place};

/// Where a plugin describes itself. The first that is there counts, and the others are not read.
const MANIFESTS: [&str; 2] = [".codex-plugin/plugin.json", ".claude-plugin/plugin.json"];
/// Where its servers are when no manifest says so.
const SERVERS: &str = ".mcp.json";

const NAME: &str = "a string that is not empty";
const PLACE_OF_SERVERS: &str = "an object of servers, or the path of a file inside of the plugin";

/// A plugin's own word on what it is.
#[derive(Debug)]
pub(super) struct Manifest {
    /// The name it gives itself.
    pub(super) name: Option<String>,
    pub(super) servers: McpServers,
    /// Where the servers stand.
    pub(super) file: PathBuf,
}

impl Manifest {
    pub(super) fn read(root: &PluginRoot) -> Result<Self, Broken> {
        for manifest in MANIFESTS {
            if let Some(file) = root.read(Path::new(manifest))? {
                return Self::of_plugin(root, &file);
            }
        }
        match root.read(Path::new(SERVERS))? {
            Some(file) => Self::of_servers(None, &file),
            None => Err(Broken::new(root.path(), PluginErrorKind::NoManifest)),
        }
    }

    fn of_plugin(root: &PluginRoot, file: &PluginFile) -> Result<Self, Broken> {
        let json = file.text.trim_start_matches('\u{feff}');
        let whole: &RawValue = serde_json::from_str(json).map_err(|error| {
            let place = Place::of_json_error(&error);
            Broken::new(&file.path, PluginErrorKind::Json(error)).at(Some(place))
        })?;
        let wrong = |part, member, expected| {
            let place = Place::of_part(part, &file.text);
            Broken::new(&file.path, PluginErrorKind::Member { member, expected }).at(place)
        };
        let Members(members) = serde_json::from_str(whole.get())
            .map_err(|_shown| wrong(whole, "plugin.json", "an object"))?;
        let value = |name: &str| {
            let mut members = members.iter();
            members.find_map(|(member, value)| (member == name).then_some(*value))
        };
        let name = value("name").map(|name| match serde_json::from_str::<String>(name.get()) {
            Ok(text) if !text.trim().is_empty() => Ok(text),
            _ => Err(wrong(name, "name", NAME)),
        });
        let name = name.transpose()?;
        let Some(servers) = value("mcpServers") else {
            return match root.read(Path::new(SERVERS))? {
                Some(file) => Self::of_servers(name, &file),
                None => Ok(Self::without_servers(name, file)),
            };
        };
        if servers.get().starts_with('{') {
            let read = McpServers::from_part(&file.text, servers);
            return Self::with(name, &file.path, read);
        }
        let path = serde_json::from_str::<String>(servers.get());
        let path = path.map_err(|_shown| wrong(servers, "mcpServers", PLACE_OF_SERVERS))?;
        let place = Place::of_part(servers, &file.text);
        let named = root.read(Path::new(&path));
        let named = named.map_err(|broken| broken.named_in(&file.path, place))?;
        let absent = || wrong(servers, "mcpServers", "the path of a file that is there");
        Self::of_servers(name, &named.ok_or_else(absent)?)
    }

    fn without_servers(name: Option<String>, file: &PluginFile) -> Self {
        Self {
            name,
            servers: McpServers::default(),
            file: file.path.clone(),
        }
    }

    fn of_servers(name: Option<String>, file: &PluginFile) -> Result<Self, Broken> {
        Self::with(name, &file.path, McpServers::from_json(&file.text))
    }

    fn with(
        name: Option<String>,
        file: &Path,
        servers: Result<McpServers, ConfigError>,
    ) -> Result<Self, Broken> {
        Ok(Self {
            name,
            servers: servers.map_err(|error| Broken::config(file, error))?,
            file: file.to_owned(),
        })
    }
}
