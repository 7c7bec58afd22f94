//! What to connect to, and how.

mod mcp_json;
mod secret;
mod server;

pub use mcp_json::{ConfigError, ConfigErrorKind, McpServers};
pub use secret::Secret;
pub use server::{Era, HttpTransport, ServerConfig, StdioTransport, ToolFilter, Transport};
