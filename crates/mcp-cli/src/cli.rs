//! The command line.

use clap::{ArgAction, Parser, Subcommand};

use crate::exit::ExitStatus;

/// Talks to MCP servers: lists their tools, calls them, and serves programs over JSON lines
///
/// Results go to stdout, everything else to stderr. Colours are left out when output is piped or NO_COLOR is set.
#[derive(Debug, Parser)]
#[command(name = "mcp-runtime", version, after_help = ExitStatus::help(), disable_help_subcommand = true)]
pub(crate) struct Cli {
    /// Log more on stderr; repeat for more still. RUST_LOG, where set, decides instead
    #[arg(short, long, global = true, action = ArgAction::Count)]
    pub(crate) verbose: u8,

    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Serve programs over JSON lines: requests on stdin, responses and events on stdout
    Session,
}
