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
mod transport;

pub use error::{ConfigError, ConfigErrorKind};
pub use mcp_json::McpServers;
pub use place::Place;
pub(crate) use plugin::Plugins;
pub use plugin::{PluginError, PluginErrorKind};
pub(crate) use secret::Secret;
pub use server::{Era, ServerConfig};
pub use tool_filter::ToolFilter;
pub use transport::{HttpTransport, StdioTransport, Transport};
