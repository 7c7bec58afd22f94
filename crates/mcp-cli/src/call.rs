//! `mcp-runtime call`: one call of one tool.

use mcp_runtime::{
    CallOptions, McpRuntime, McpServerKey, PreparedCall, ServerConfig, ServerName, ToolOutput,
};

use crate::arguments;
use crate::cli::CallArgs;
use crate::config_file::ConfigFile;
use crate::content;
use crate::exit::ExitStatus;
use crate::failure::Failure;
use crate::screen;
use crate::serving;
use crate::target::{Target, TargetError, distinct};

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
    let timed = |server: ServerConfig| match args.timeout {
        Some(timeout) => server.tool_timeout(timeout),
        None => server,
    };
    let builder = config.configure(serving::builder(), |key| needed.contains(key), timed);
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
fn target(args: &CallArgs, config: &ConfigFile) -> Result<(Target, Vec<McpServerKey>), Failure> {
    let meant = |keys: &[McpServerKey]| {
        let target = match (&args.name, &args.server, &args.tool) {
            (Some(name), _, _) => match Target::of_name(name, &distinct(keys)) {
                // It may be one of a plugin's, whose name the file does not say.
                Err(TargetError::UnknownServer { .. }) if config.has_plugins() => {
                    Target::divided(name)?
                }
                target => target?,
            },
            (None, server, tool) => Target::Tool {
                // The command line has both or none.
                server: server.clone().unwrap_or_default(),
                environment: None,
                tool: tool.clone().unwrap_or_default(),
            },
        };
        let target = target.in_environment(args.environment.as_deref())?;
        let needed = match target.servers(keys) {
            // It may be one of a plugin's.
            Err(_) if config.has_plugins() => keys.to_vec(),
            needed => needed?,
        };
        Ok::<_, TargetError>((target, needed))
    };
    let keys: Vec<McpServerKey> = config.keys().collect();
    let found = meant(&keys).map_err(|error| {
        let mut rejected = config.rejected();
        let rejected = rejected.find(|(name, environment, _)| {
            name.parse::<ServerName>().is_ok_and(|name| {
                let key = match environment {
                    None => McpServerKey::host(name),
                    Some(id) => McpServerKey::in_environment((*id).clone(), name),
                };
                meant(&[key]).is_ok()
            })
        });
        rejected.map_or(error, |(_, _, why)| TargetError::Rejected(why))
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
        let statuses = runtime.status();
        let mut statuses = statuses.iter();
        let absent = statuses.find_map(|status| Failure::absent(status, config.path()));
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
