//! A real launcher under a real server behind a session (S2 to S8).
//!
//! None of this runs by itself: `cargo xtask interop` installs a launcher, builds the server, and runs all of it. What a
//! host and a server make of a launcher is tried without one elsewhere.

mod choice;
mod confinement;
mod host;
mod leftover;
mod machine;
mod said;
mod shell;
mod workplace;

use std::path::PathBuf;

/// The launcher.
fn launcher() -> PathBuf {
    given("MCP_INTEROP_LAUNCHER")
}

/// The example server of mcp-sandbox-meta.
fn server() -> PathBuf {
    given("MCP_INTEROP_SERVER")
}

fn given(variable: &str) -> PathBuf {
    let path = std::env::var_os(variable);
    path.expect("`cargo xtask interop` sets it").into()
}
