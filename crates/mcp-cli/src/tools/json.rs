//! The listing as programs read it.

use mcp_runtime::{Binding, ServerStatus};
use serde::Serialize;

use crate::config_file::ConfigFile;
use crate::failure::Failure;
use crate::report::{ServerReport, ToolList};

#[derive(Serialize)]
struct Listing {
    servers: Vec<ServerReport>,
    tools: ToolList,
}

/// One JSON object with every server, every entry that is none, and every tool.
pub(super) fn listing(
    config: &ConfigFile,
    servers: &[ServerStatus],
    binding: &Binding,
) -> Result<String, Failure> {
    let rejected = config
        .rejected()
        .map(|(server, environment, why)| ServerReport::rejected(server, environment, why));
    let listing = Listing {
        servers: servers
            .iter()
            .map(ServerReport::new)
            .chain(rejected)
            .collect(),
        tools: ToolList(binding.clone()),
    };
    serde_json::to_string(&listing).map_err(|error| Failure::Output(error.into()))
}
