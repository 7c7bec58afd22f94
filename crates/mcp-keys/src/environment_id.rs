//! [`EnvironmentId`]: which environment owns a server.

use std::sync::Arc;

use crate::name::{NameKind, validated_name};

/// Which environment (this machine, a container, a remote box) owns a server: 1 to 128 bytes, no
/// control characters, no white space at either end (K1).
///
/// Cloning is cheap.
///
/// ```
/// use mcp_keys::EnvironmentId;
///
/// let devbox = EnvironmentId::new("devbox")?;
/// assert_eq!(devbox.to_string(), "devbox");
/// # Ok::<(), mcp_keys::InvalidName>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EnvironmentId(Arc<str>);

validated_name!(EnvironmentId, NameKind::Environment);
