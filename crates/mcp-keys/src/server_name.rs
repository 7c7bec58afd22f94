//! [`ServerName`]: what a server is called where it is configured.

use std::sync::Arc;

use crate::name::{NameKind, validated_name};

/// What a server is called where it is configured: 1 to 128 bytes, no control characters, no white
/// space at either end (K1).
///
/// Spaces, dots, slashes and any script are fine inside. A name alone does not identify a server; an
/// [`McpServerKey`](crate::McpServerKey) does. Cloning is cheap.
///
/// ```
/// use mcp_keys::ServerName;
///
/// let name: ServerName = "npm:@scope/pkg".parse()?;
/// assert_eq!(name.as_str(), "npm:@scope/pkg");
/// assert!(ServerName::new("").is_err());
/// # Ok::<(), mcp_keys::InvalidName>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServerName(Arc<str>);

validated_name!(ServerName, NameKind::Server);
