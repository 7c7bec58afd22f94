//! The server behind this crate's tests: plays a script as an MCP server on stdin and stdout.

fn main() -> std::process::ExitCode {
    mcp_testkit::scripted_server_main()
}
