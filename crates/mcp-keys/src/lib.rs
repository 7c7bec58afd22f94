//! Exact identity of MCP servers and tools across environments, and stable model-visible names.

mod environment_id;
mod index;
mod model_name;
mod name;
mod part;
mod profile;
mod server_key;
mod server_name;
mod tool_key;
mod tool_name;

pub use environment_id::EnvironmentId;
pub use index::{NameCollision, ToolNameIndex};
pub use model_name::ModelName;
pub use name::InvalidName;
pub use profile::{InvalidPrefix, NameProfile};
pub use server_key::{McpServerKey, ServerScope};
pub use server_name::ServerName;
pub use tool_key::ToolKey;
pub use tool_name::ToolName;
