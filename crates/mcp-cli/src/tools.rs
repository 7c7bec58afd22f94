//! `mcp-runtime tools`: what is offered, server by server.

mod json;
mod table;

use mcp_runtime::{ErrorChain, ServerState, ServerStatus};

use crate::cli::ToolsArgs;
use crate::config_file::ConfigFile;
use crate::exit::ExitStatus;
use crate::failure::Failure;
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
    let builder = config.configure(serving::builder(), |_all| true, |server| server);
    let (status, _) = serving::with_servers(builder, async |runtime| {
        runtime.settled().await;
        let (servers, binding) = (runtime.status(), runtime.capture());
        let printed = if args.json {
            screen::raw_line(&json::listing(&config, &servers, &binding)?)
        } else {
            table::print(&servers, &binding)
        };
        printed.map_err(Failure::Output)?;
        servers.iter().for_each(tell_failure);
        Ok(if config.lacks_required() {
            ExitStatus::Usage
        } else {
            status(&servers)
        })
    })
    .await?;
    Ok(status)
}

pub(crate) fn tell_failure(server: &ServerStatus) {
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
        }
        ServerState::Disconnected(outage) => {
            tell(&format!("server `{}` is gone: {outage}", server.key()));
            screen::stderr_tail(outage.stderr_tail());
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
pub(crate) fn status(servers: &[ServerStatus]) -> ExitStatus {
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
