//! The scripted server that this crate's tests start.

use std::process::ExitCode;

fn main() -> ExitCode {
    mcp_testkit::scripted_server_main()
}
