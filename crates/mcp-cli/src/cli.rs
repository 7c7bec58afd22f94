//! The command line.

mod query;

use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgAction, Args, Parser, Subcommand};

use crate::exit::ExitStatus;

pub(crate) use query::{ListArgs, OfServerArgs, PromptArgs, PromptsArgs, ReadArgs, ResourcesArgs};

/// Talks to MCP servers: lists what they offer, calls tools, reads resources, and serves programs over JSON lines
///
/// Results go to stdout, everything else to stderr. Colours are left out when output is piped or NO_COLOR is set.
#[derive(Debug, Parser)]
#[command(
    name = "mcp-runtime",
    bin_name = "mcp-runtime",
    version,
    after_help = ExitStatus::help(),
    disable_help_subcommand = true
)]
pub(crate) struct Cli {
    /// Log more on stderr; repeat for more still. RUST_LOG, where set, decides instead
    #[arg(short, long, global = true, action = ArgAction::Count)]
    pub(crate) verbose: u8,

    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Tools(ToolsArgs),
    Call(CallArgs),
    Resources(ResourcesArgs),
    Read(ReadArgs),
    Prompts(PromptsArgs),
    Prompt(PromptArgs),
    /// Serve programs over JSON lines: requests on stdin, responses and events on stdout
    Session,
    Demo(DemoArgs),
    /// Be one of the servers of the demo
    #[command(hide = true)]
    DemoServer(DemoServerArgs),
}

/// Start every configured server and list the tools
///
/// Tools are grouped by server: the name that a model sees, the server's own name for it, and the first line of its
/// description. A server that does not start is told on stderr and costs the others nothing; the command fails only
/// when all of them fail, or one that is `required`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  mcp-runtime tools --config .mcp.json
  mcp-runtime tools --config .mcp.json --json | jq -r '.tools[].name'")]
pub(crate) struct ToolsArgs {
    /// The configuration: a JSON file with `mcpServers` (or `servers`)
    #[arg(short, long, value_name = "FILE")]
    pub(crate) config: PathBuf,

    /// Print one JSON object: every server's fate, and every tool with its server's own definition
    #[arg(long)]
    pub(crate) json: bool,
}

/// Call a tool and print what it answers
///
/// Only the server that has the tool is started. Text is printed as text, any other content as one line that says what it
/// is; without content, structured content is printed as JSON.
///
/// NAME is either the name that a model sees, as `tools` lists it, or SERVER/TOOL. Names may have slashes of their own:
/// SERVER is the one configured server that NAME begins with, and where several fit, --server and --tool say which.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  mcp-runtime call --config .mcp.json mcp__docs__search --arguments '{\"query\": \"tower\"}'
  mcp-runtime call --config .mcp.json docs/search --arguments @query.json --timeout 5
  jq -n '{query: \"tower\"}' | mcp-runtime call --config .mcp.json docs/search --arguments - --json
  mcp-runtime call --config .mcp.json --server team/docs --tool search")]
pub(crate) struct CallArgs {
    /// The configuration: a JSON file with `mcpServers` (or `servers`)
    #[arg(short, long, value_name = "FILE")]
    pub(crate) config: PathBuf,

    /// The tool: the name that a model sees, or SERVER/TOOL
    #[arg(required_unless_present_any = ["server", "tool"], conflicts_with_all = ["server", "tool"])]
    pub(crate) name: Option<String>,

    /// The server, by its exact name; goes with --tool
    #[arg(long, requires = "tool")]
    pub(crate) server: Option<String>,

    /// The environment that owns the server; a server of the host's own belongs to none
    #[arg(long, value_name = "ID")]
    pub(crate) environment: Option<String>,

    /// The tool, by the server's own name for it; goes with --server
    #[arg(long, requires = "server")]
    pub(crate) tool: Option<String>,

    /// The arguments: a JSON object, @FILE to read one from a file, or - to read one from stdin [default: {}]
    #[arg(short, long, value_name = "JSON", allow_hyphen_values = true)]
    pub(crate) arguments: Option<String>,

    /// How long the call may take, instead of the server's `tool_timeout_sec`; fractions are allowed
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) timeout: Option<Duration>,

    /// Print the result object exactly as the server sent it
    #[arg(long)]
    pub(crate) json: bool,
}

/// Show what this program does, with two small servers of its own; needs nothing else
///
/// Two servers of the same name in two environments, a third that cannot be started, a call that runs into its time limit,
/// and an end that leaves no process behind. Every step is checked; the command fails if one goes wrong.
#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Print one JSON object: every step, what was checked, and the results as the servers sent them
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DemoServerArgs {
    /// The environment it says that it is in
    #[arg(long, value_name = "ID", default_value = "nowhere")]
    pub(crate) environment: String,

    /// A file on which it holds a shared lock for as long as it lives
    #[arg(long, value_name = "FILE")]
    pub(crate) alive: Option<PathBuf>,
}

fn seconds(text: &str) -> Result<Duration, &'static str> {
    let seconds = text.parse().ok().map(Duration::try_from_secs_f64);
    match seconds {
        Some(Ok(duration)) if !duration.is_zero() => Ok(duration),
        _ => Err("expected a positive number of seconds, such as 2.5"),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn seconds_are_positive_and_finite() {
        assert_eq!(seconds("2.5"), Ok(Duration::from_millis(2_500)));
        for text in ["0", "-1", "NaN", "inf", "1e300", "", "5s"] {
            assert!(seconds(text).is_err(), "{text}");
        }
    }
}
