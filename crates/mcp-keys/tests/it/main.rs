//! The public API of mcp-keys, one file per area.
#![allow(
    clippy::unwrap_used,
    reason = "a test fails by panicking, in its helpers too"
)]

mod exhaustive;
mod exposure;
mod golden;
mod index;
mod keys;
mod model_names;
mod names;
mod resolve;
mod selection;

use mcp_keys::{McpServerKey, ServerName};

/// The server called `text`: `docs` is the host's, `devbox/docs` is an environment's.
#[track_caller]
fn server(text: &str) -> McpServerKey {
    match text.split_once('/') {
        None => McpServerKey::host(name(text)),
        Some((id, text)) => McpServerKey::in_environment(id.parse().unwrap(), name(text)),
    }
}

#[track_caller]
fn name(text: &str) -> ServerName {
    text.parse().unwrap()
}
