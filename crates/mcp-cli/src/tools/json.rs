//! The listing as programs read it.

use mcp_runtime::{Binding, ErrorCode, ServerStatus};
use serde::Serialize;

use crate::config_file::ConfigFile;
use crate::failure::Failure;
use crate::report::{ErrorReport, ServerReport, ToolReport};

#[derive(Serialize)]
struct Listing<'a> {
    servers: Vec<Entry<'a>>,
    tools: Vec<ToolReport<'a>>,
}

/// What became of one entry of the configuration.
#[derive(Serialize)]
#[serde(untagged)]
enum Entry<'a> {
    Server(ServerReport),
    /// It cannot be used: a server that failed before it was one.
    Rejected {
        server: &'a str,
        status: &'static str,
        tools: usize,
        elapsed_ms: u64,
        error: ErrorReport,
    },
}

/// One JSON object with every server and every tool.
pub(super) fn listing(
    config: &ConfigFile,
    servers: &[ServerStatus],
    binding: &Binding,
) -> Result<String, Failure> {
    let rejected = config.rejected().map(|(server, why)| Entry::Rejected {
        server,
        status: "failed",
        tools: 0,
        elapsed_ms: 0,
        error: ErrorReport::new(ErrorCode::InvalidRequest, why),
    });
    let servers = servers.iter().map(ServerReport::new).map(Entry::Server);
    let tools: Vec<_> = binding.tools().collect();
    let listing = Listing {
        servers: servers.chain(rejected).collect(),
        tools: tools.iter().map(ToolReport::new).collect(),
    };
    serde_json::to_string(&listing).map_err(|error| Failure::Output(error.into()))
}
