//! Plays a script as an MCP server on stdin and stdout: `scripted-server <script.json> <log.jsonl>`.

use std::process::ExitCode;

fn main() -> ExitCode {
    mcp_testkit::scripted_server_main()
}
