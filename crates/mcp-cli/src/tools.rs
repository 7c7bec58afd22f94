//! `mcp-runtime tools`: what is offered, server by server.

mod table;

use mcp_runtime::{Binding, ErrorChain, ServerState, ServerStatus};
use serde::Serialize;

use crate::cli::ToolsArgs;
use crate::config_file::ConfigFile;
use crate::exit::ExitStatus;
use crate::failure::{self, Failure};
use crate::report::{ServerReport, ToolReport};
use crate::screen;
use crate::serving;

/// Starts every server and lists what they offer.
///
/// # Errors
///
/// When there is nothing to start, or no place to write to. A server that does not start is none.
pub(crate) async fn run(args: ToolsArgs) -> Result<ExitStatus, Failure> {
    let config = ConfigFile::read(&args.config)?;
    config.tell_unused();
    let lacks_required = config.lacks_required();
    let builder = serving::builder().servers(config.into_servers());
    let (status, _) = serving::with_servers(builder, async |runtime| {
        runtime.settled().await;
        let (servers, binding) = (runtime.status(), runtime.capture());
        let printed = if args.json {
            screen::raw_line(&json(&servers, &binding)?)
        } else {
            table::print(&servers, &binding)
        };
        printed.map_err(Failure::Output)?;
        servers.iter().for_each(tell_failure);
        Ok(if lacks_required {
            ExitStatus::Usage
        } else {
            status(&servers)
        })
    })
    .await?;
    Ok(status)
}

fn json(servers: &[ServerStatus], binding: &Binding) -> Result<String, Failure> {
    #[derive(Serialize)]
    struct Listing<'a> {
        servers: Vec<ServerReport>,
        tools: Vec<ToolReport<'a>>,
    }
    let tools: Vec<_> = binding.tools().collect();
    let listing = Listing {
        servers: servers.iter().map(ServerReport::new).collect(),
        tools: tools.iter().map(ToolReport::new).collect(),
    };
    serde_json::to_string(&listing).map_err(|error| Failure::Output(error.into()))
}

fn tell_failure(server: &ServerStatus) {
    let tell = |text: &str| {
        if server.is_required() {
            screen::error(format_args!("{text} (it is required)"));
        } else {
            screen::warning(text);
        }
    };
    match server.state() {
        ServerState::Failed { error, .. } => {
            tell(&ErrorChain(error.as_ref()).to_string());
            screen::stderr_tail(error.stderr_tail());
            if let Some(hint) = failure::startup_hint(error) {
                screen::note(hint);
            }
        }
        ServerState::Disconnected { why } => {
            tell(&format!("server `{}` is gone: {why}", server.key()));
            screen::stderr_tail(why.stderr_tail());
        }
        ServerState::Hidden { reason } => {
            screen::note(format_args!(
                "server `{}` is hidden: {reason}",
                server.key()
            ));
        }
        _ => {}
    }
}

/// One optional server that fails must not fail a script; all of them, or one that is required, must.
fn status(servers: &[ServerStatus]) -> ExitStatus {
    let is_ready = |server: &ServerStatus| matches!(server.state(), ServerState::Ready { .. });
    let has_failed = |server: &&ServerStatus| {
        !is_ready(server)
            && !matches!(
                server.state(),
                ServerState::Disabled | ServerState::Hidden { .. }
            )
    };
    let mut failed = servers.iter().filter(has_failed).peekable();
    let all_failed = failed.peek().is_some() && !servers.iter().any(is_ready);
    if all_failed || failed.any(ServerStatus::is_required) {
        ExitStatus::Server
    } else {
        ExitStatus::Ok
    }
}
