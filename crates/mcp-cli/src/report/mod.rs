//! What `--json` and the session say of servers, tools and failures: one form for both.

mod error;
mod owned;
mod plugin;
mod server;
mod tool;

use std::time::Duration;

pub(crate) use error::ErrorReport;
pub(crate) use owned::{Owned, OwnedError};
pub(crate) use plugin::PluginReport;
pub(crate) use server::ServerReport;
pub(crate) use tool::{ToolList, ToolReport};

/// Whole milliseconds.
pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
