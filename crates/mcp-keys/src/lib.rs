//! Exact identity of MCP servers and tools across environments, and stable model-visible names.
//!
//! A server's name says little: the host, a container and a remote box can each have a server `docs`, with
//! different tools and different powers. Code that keys anything by the bare name mixes them up, and code
//! that tells them apart by renaming changes the names a model has learnt. Here a server is an
//! [`McpServerKey`], a tool a [`ToolKey`], and a tool's [`ModelName`] depends on its key and on nothing else.
//!
//! ```
//! use mcp_keys::{EnvironmentId, McpServerKey, NameProfile, ServerName, ToolKey, ToolName};
//!
//! let docs = ServerName::new("docs")?;
//! let search = ToolName::new("search")?;
//! let host = McpServerKey::host(docs.clone());
//! let devbox = McpServerKey::in_environment(EnvironmentId::new("devbox")?, docs);
//!
//! let profile = NameProfile::default();
//! let name_in = |server| profile.name(&ToolKey::new(server, search.clone()));
//! assert_eq!(name_in(host).flat(), "mcp__docs__search");
//! assert_eq!(name_in(devbox).flat(), "mcp__docs_at_devbox_xytskfsbghy__search");
//! # Ok::<(), mcp_keys::InvalidName>(())
//! ```
//!
//! - [`NameProfile`] makes names; [`ModelName`] documents their grammar; [`ToolNameIndex`] finds tools by them.
//! - [`Exposure`] says which servers a step sees, [`resolve`] which of them a bare name means.
//! - [`installation_name`] names the servers of a plugin that is installed twice.
//!
//! # What this crate does not do
//!
//! It does no I/O, speaks no protocol and does not know which servers run. It tells names apart by their
//! exact text: it neither folds case nor normalises Unicode.

mod environment_id;
mod exposure;
mod index;
mod installation;
mod model_name;
mod name;
mod part;
mod profile;
mod resolve;
mod resolve_error;
mod selection;
mod server_key;
mod server_name;
mod tool_key;
mod tool_name;
mod wire;

pub use environment_id::EnvironmentId;
pub use exposure::{Exposure, HiddenReason, HiddenServer, MultiEnvironment};
pub use index::{NameCollision, ToolNameIndex};
pub use installation::installation_name;
pub use model_name::ModelName;
pub use name::InvalidName;
pub use profile::{InvalidPrefix, NameProfile};
pub use resolve::resolve;
pub use resolve_error::{ResolveError, ResolveErrorKind};
pub use selection::{InvalidSelection, SelectedEnvironments};
pub use server_key::{McpServerKey, ServerScope};
pub use server_name::ServerName;
pub use tool_key::ToolKey;
pub use tool_name::ToolName;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeDoctests;
