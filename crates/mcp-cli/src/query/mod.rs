//! What servers offer beside tools: listed, read and filled in (P1, P2).

mod fetch;
mod list;
mod table;

use std::time::Duration;

use mcp_runtime::{McpRuntime, McpServerKey, QueryError, QueryOptions, ServerConfig};

use crate::config_file::ConfigFile;
use crate::failure::Failure;
use crate::serving;
use crate::target::{TargetError, named};

pub(crate) use fetch::{prompt, read};
pub(crate) use list::{prompts, resources};

/// A server on the command line, with the environment that owns it.
type Address<'a> = (&'a str, Option<&'a str>);

/// Starts the servers that are asked, all of them without an address, and asks them.
async fn ask<T>(
    config: &ConfigFile,
    address: Option<Address<'_>>,
    timeout: Option<Duration>,
    work: impl AsyncFnOnce(&McpRuntime, QueryOptions) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let wanted = wanted(config, address)?;
    let timed = |server: ServerConfig| match timeout {
        Some(timeout) => server.tool_timeout(timeout),
        None => server,
    };
    let builder = config.configure(serving::builder(), |key| wanted.contains(key), timed);
    let asked = serving::with_servers(builder, async |runtime| {
        runtime.settled().await;
        work(runtime, QueryOptions::new()).await
    });
    asked.await.map(|(answer, _)| answer)
}

fn wanted(
    config: &ConfigFile,
    address: Option<Address<'_>>,
) -> Result<Vec<McpServerKey>, TargetError> {
    let keys: Vec<_> = config.keys().collect();
    let Some((server, _)) = address else {
        return Ok(keys);
    };
    named(server, &keys).or_else(|error| {
        // It may be one of a plugin's.
        if config.has_plugins() {
            return Ok(Vec::new());
        }
        let mut rejected = config.rejected();
        let rejected = rejected.find(|(name, _, _)| *name == server);
        Err(rejected.map_or(error, |(_, _, why)| TargetError::Rejected(why)))
    })
}

/// Why a server did not answer: that it has not started explains more than that it is not there.
fn failure(runtime: &McpRuntime, config: &ConfigFile, error: QueryError) -> Failure {
    let asked = error.server();
    let asked = |key: &McpServerKey| asked.is_none_or(|asked| asked == key);
    let statuses = runtime.status();
    let mut statuses = statuses.iter().filter(|status| asked(status.key()));
    let absent = statuses.find_map(|status| Failure::absent(status, config.path()));
    absent.unwrap_or_else(|| Box::new(error).into())
}
