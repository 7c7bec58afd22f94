//! The command lines of what servers offer beside tools.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::seconds;

/// Start the servers and list their resources
///
/// Resources are grouped by server: the URI, and what the server says of it. A server that cannot list is told on stderr and
/// costs the others nothing; the command fails only when all of them fail, or the one that was asked for.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  mcp-runtime resources --config .mcp.json
  mcp-runtime resources --config .mcp.json --server docs --templates
  mcp-runtime resources --config .mcp.json --json | jq -r '.resources[].uri'")]
pub(crate) struct ResourcesArgs {
    #[command(flatten)]
    pub(crate) list: ListArgs,

    /// List the templates of resources instead
    #[arg(long)]
    pub(crate) templates: bool,
}

/// Start the servers and list their prompts
///
/// Prompts are grouped by server: the name, and what the server says of it. A server that cannot list is told on stderr and
/// costs the others nothing; the command fails only when all of them fail, or the one that was asked for.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  mcp-runtime prompts --config .mcp.json
  mcp-runtime prompts --config .mcp.json --json | jq -r '.prompts[].name'")]
pub(crate) struct PromptsArgs {
    #[command(flatten)]
    pub(crate) list: ListArgs,
}

/// Whose entries are listed, and how.
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// The configuration: a JSON file with `mcpServers` (or `servers`)
    #[arg(short, long, value_name = "FILE")]
    pub(crate) config: PathBuf,

    /// Only those of this server
    #[arg(long)]
    pub(crate) server: Option<String>,

    /// The environment that owns the server; goes with --server
    #[arg(long, value_name = "ID", requires = "server")]
    pub(crate) environment: Option<String>,

    /// How long a server may take, instead of its `tool_timeout_sec`; fractions are allowed
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) timeout: Option<Duration>,

    /// Print one JSON object: every entry as the server wrote it, with its owner, and what went wrong
    #[arg(long)]
    pub(crate) json: bool,
}

/// Read a resource and print what is in it
///
/// Text is printed as text, anything else as one line that says what it is.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  mcp-runtime read --config .mcp.json docs file:///guide.md
  mcp-runtime read --config .mcp.json docs file:///logo.png --json | jq -r '.contents[0].blob' | base64 -d")]
pub(crate) struct ReadArgs {
    #[command(flatten)]
    pub(crate) of: OfServerArgs,

    /// The URI, as the server lists it
    pub(crate) uri: String,
}

/// Get a prompt and print its messages
///
/// Each message is printed under its role; text as text, any other content as one line that says what it is.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  mcp-runtime prompt --config .mcp.json docs review --arguments '{\"page\": \"names\"}'
  mcp-runtime prompt --config .mcp.json docs review --arguments @review.json --json")]
pub(crate) struct PromptArgs {
    #[command(flatten)]
    pub(crate) of: OfServerArgs,

    /// The prompt, by the server's own name for it
    pub(crate) name: String,

    /// The arguments: a JSON object, @FILE to read one from a file, or - to read one from stdin
    #[arg(short, long, value_name = "JSON", allow_hyphen_values = true)]
    pub(crate) arguments: Option<String>,
}

/// The one server that is asked, and how.
#[derive(Debug, Args)]
pub(crate) struct OfServerArgs {
    /// The configuration: a JSON file with `mcpServers` (or `servers`)
    #[arg(short, long, value_name = "FILE")]
    pub(crate) config: PathBuf,

    /// The server, by its exact name
    pub(crate) server: String,

    /// The environment that owns the server; a server of the host's own belongs to none
    #[arg(long, value_name = "ID")]
    pub(crate) environment: Option<String>,

    /// How long it may take, instead of the server's `tool_timeout_sec`; fractions are allowed
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) timeout: Option<Duration>,

    /// Print the result exactly as the server sent it
    #[arg(long)]
    pub(crate) json: bool,
}
