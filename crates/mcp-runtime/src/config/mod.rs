//! What to connect to, and how.

mod entry;
mod error;
mod mcp_json;
mod members;
mod place;
mod plugin;
mod secret;
mod server;
mod tool_filter;

pub use error::{ConfigError, ConfigErrorKind};
pub use mcp_json::McpServers;
pub use place::Place;
pub(crate) use plugin::Plugins;
pub use plugin::{PluginError, PluginErrorKind};
pub(crate) use secret::Secret;
pub use server::{Era, HttpTransport, ServerConfig, StdioTransport, Transport};
pub use tool_filter::ToolFilter;
