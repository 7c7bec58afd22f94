//! `mcp-runtime call`: one call of one tool.

mod content;

use mcp_runtime::{
    CallOptions, McpRuntime, PreparedCall, ServerConfig, ServerName, ServerState, ToolOutput,
};

use crate::arguments;
use crate::cli::CallArgs;
use crate::config_file::ConfigFile;
use crate::exit::ExitStatus;
use crate::failure::Failure;
use crate::screen;
use crate::serving;
use crate::target::{Target, TargetError};

/// Starts the server that is needed, calls its tool, and prints what it answers.
///
/// # Errors
///
/// When the tool does not answer. A tool that reports an error has answered.
pub(crate) async fn run(args: CallArgs) -> Result<ExitStatus, Failure> {
    // All that can be wrong without a server is told before one is started.
    let arguments = args.arguments.as_deref().map(arguments::read).transpose()?;
    let config = ConfigFile::read(&args.config)?;
    let (target, needed) = target(&args, &config)?;
    let servers = config
        .servers()
        .iter()
        .filter(|server| needed.contains(server.name()));
    let servers: Vec<ServerConfig> = servers
        .cloned()
        .map(|server| match args.timeout {
            Some(timeout) => server.tool_timeout(timeout),
            None => server,
        })
        .collect();
    let builder = serving::builder().servers(servers);
    let (status, _) = serving::with_servers(builder, async |runtime| {
        let call = prepare(runtime, &target, &config).await?;
        let options = arguments.map_or_else(CallOptions::new, |arguments| {
            CallOptions::new().arguments(arguments)
        });
        let output = call.execute(options).await.map_err(Box::new)?;
        print(&output, args.json)
    })
    .await?;
    Ok(status)
}

/// What the command line means, and which servers it needs. When it means an entry that is in the file and wrong, that is
/// what is told.
fn target(args: &CallArgs, config: &ConfigFile) -> Result<(Target, Vec<ServerName>), Failure> {
    let meant = |names: &[ServerName]| {
        let target = match (&args.name, &args.server, &args.tool) {
            (Some(name), _, _) => Target::of_name(name, names)?,
            (None, server, tool) => Target::Tool {
                // The command line has all three or none.
                server: server.clone().unwrap_or_default(),
                environment: args.environment.clone(),
                tool: tool.clone().unwrap_or_default(),
            },
        };
        let needed = target.servers(names)?.into_iter().cloned().collect();
        Ok::<_, TargetError>((target, needed))
    };
    let servers = config.servers().iter();
    let names: Vec<ServerName> = servers.map(|server| server.name().clone()).collect();
    let found = meant(&names).map_err(|error| {
        let mut rejected = config.rejected();
        let rejected = rejected.find(|(name, _)| {
            name.parse::<ServerName>()
                .is_ok_and(|name| meant(&[name]).is_ok())
        });
        rejected.map_or(error, |(_, why)| TargetError::Rejected(why))
    })?;
    Ok(found)
}

async fn prepare(
    runtime: &McpRuntime,
    target: &Target,
    config: &ConfigFile,
) -> Result<PreparedCall, Failure> {
    runtime.settled().await;
    let binding = runtime.capture();
    let prepared = match target {
        Target::ModelName(name) => binding.prepare(name),
        Target::Tool {
            server,
            environment,
            tool,
        } => binding.prepare_tool(server, environment.as_deref(), tool),
    };
    prepared.map_err(|error| {
        // A server that is not there explains more than a tool that is not.
        let absent = runtime.status().into_iter().find_map(|status| {
            let server = status.key().to_string();
            match status.state() {
                ServerState::Failed { error, .. } => Some(Failure::Startup(error.clone())),
                ServerState::Disconnected(outage) => Some(Failure::NotConnected {
                    server,
                    why: outage.to_string(),
                }),
                ServerState::Disabled => Some(Failure::Disabled {
                    server,
                    config: config.path().to_owned(),
                }),
                _ => None,
            }
        });
        absent.unwrap_or(Failure::Prepare(error))
    })
}

fn print(output: &ToolOutput, json: bool) -> Result<ExitStatus, Failure> {
    let printed = if json {
        screen::raw_line(output.raw().get())
    } else {
        content::print(output)
    };
    printed.map_err(Failure::Output)?;
    match output.error_code() {
        Some(code) => {
            screen::error(format_args!(
                "the tool reported an error (code `{}`)",
                code.as_str()
            ));
            Ok(ExitStatus::ToolError)
        }
        None => Ok(ExitStatus::Ok),
    }
}
