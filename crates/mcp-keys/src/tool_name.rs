//! [`ToolName`]: what a server calls one of its tools.

use std::sync::Arc;

use crate::name::{NameKind, validated_name};

/// What a server calls one of its tools: 1 to 256 bytes, no control characters, no white space at
/// either end (K1).
///
/// This is the name sent back to the server. What a model sees is a
/// [`ModelName`](crate::ModelName). Cloning is cheap.
///
/// ```
/// use mcp_keys::ToolName;
///
/// assert_eq!(ToolName::new("Get File")?.as_str(), "Get File");
/// assert!(ToolName::new("line\nbreak").is_err());
/// # Ok::<(), mcp_keys::InvalidName>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ToolName(Arc<str>);

validated_name!(ToolName, NameKind::Tool);
