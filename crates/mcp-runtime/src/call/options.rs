//! What goes with a call.

use std::fmt;
use std::time::Duration;

use serde_json::value::RawValue;

/// What goes with a call.
///
/// ```
/// use std::time::Duration;
/// use mcp_runtime::CallOptions;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let arguments = serde_json::value::to_raw_value(&serde_json::json!({"query": "tower"}))?;
/// let options = CallOptions::new().arguments(arguments).timeout(Duration::from_secs(5));
/// # let _ = options;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default)]
pub struct CallOptions {
    pub(super) arguments: Option<Box<RawValue>>,
    pub(super) meta: Option<Box<RawValue>>,
    pub(super) timeout: Option<Duration>,
}

impl CallOptions {
    /// No arguments, no metadata, the server's own budget.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The arguments, a JSON object. The server gets them as they are (W1).
    #[must_use]
    pub fn arguments(mut self, arguments: Box<RawValue>) -> Self {
        self.arguments = Some(arguments);
        self
    }

    /// Members for the request's `_meta`, a JSON object. Reserved members are left out (S6).
    #[must_use]
    pub fn meta(mut self, meta: Box<RawValue>) -> Self {
        self.meta = Some(meta);
        self
    }

    /// A smaller budget than the server's `tool_timeout`; a larger one changes nothing (B3). Where the server is
    /// configured with `reset_on_progress`, this budget begins anew with progress too (B4).
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }
}

impl fmt::Debug for CallOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Arguments and metadata may hold secrets.
        f.debug_struct("CallOptions")
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}
