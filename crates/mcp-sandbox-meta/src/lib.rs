//! The codex/sandbox-state wire contract: under which authority an MCP tool call was issued.
//!
//! A server that starts processes for its tools should confine them as the host would confine its own. A host that knows the
//! contract tells a server that opts in, with every call, the sandbox state it was issued under and the program that
//! can apply it. All of it travels in the request's `_meta`, so a host also has to see to it that nobody else writes
//! those members.
//!
//! # The server's side
//!
//! Opt in with [`advertise_sandbox_state`], read every call with [`SandboxMetadata::from_meta`], and start whatever the
//! call asks for with a [`SandboxCommand`]. That is all it takes:
//!
//! ```
//! # #[cfg(unix)] {
//! use std::process::{Command, Output, Stdio};
//!
//! use mcp_sandbox_meta::{SandboxCommand, SandboxMetadata, advertise_sandbox_state};
//! use serde::Deserialize;
//! use serde_json::value::RawValue;
//!
//! /// The answer to `initialize`.
//! fn initialize() -> serde_json::Value {
//!     let mut experimental = serde_json::Map::new();
//!     advertise_sandbox_state(&mut experimental);
//!     serde_json::json!({
//!         "protocolVersion": "2025-06-18",
//!         "serverInfo": { "name": "runner", "version": "1.0.0" },
//!         "capabilities": { "tools": {}, "experimental": experimental },
//!     })
//! }
//!
//! /// The params of `tools/call`: `_meta` stays as it was received.
//! #[derive(Deserialize)]
//! struct Call<'a> {
//!     #[serde(borrow, rename = "_meta")]
//!     meta: Option<&'a RawValue>,
//!     arguments: Vec<String>,
//! }
//!
//! fn call(params: &str) -> Result<Output, Box<dyn std::error::Error>> {
//!     let call: Call<'_> = serde_json::from_str(params)?;
//!     let authority = call.meta.map(SandboxMetadata::from_meta).transpose()?.flatten();
//!     // No authority, or no launcher: an error, and nothing runs.
//!     let command = SandboxCommand::new(authority.as_ref(), "cargo")?.args(call.arguments);
//!     Ok(Command::from(command).stdin(Stdio::null()).output()?)
//! }
//! # assert!(initialize()["capabilities"]["experimental"]["codex/sandbox-state"].is_object());
//! # let meta = r#"{"codex/sandbox-state":{},"codex/sandbox-launcher":{"codexExecutable":"/bin/echo"}}"#;
//! # let output = call(&format!(r#"{{"arguments":["b"],"_meta":{meta}}}"#)).unwrap();
//! # assert_eq!(output.stdout, b"sandbox --sandbox-state-json {} -- cargo b\n");
//! # assert!(call(&format!(r#"{{"arguments":[{meta:?}]}}"#)).is_err());
//! # }
//! ```
//!
//! What outlives a call keeps a [`CapturedAuthority`] beside it. The example `confined-server` is a whole server with
//! both, on standard input and output.
//!
//! # The host's side
//!
//! See to it that nobody else writes the reserved members ([`RawMeta`]), find out whether the server opted in
//! ([`advertises_sandbox_state`]), and add a [`SandboxMetadata`]. Whether a launcher goes with it, tell
//! [`launcher_is_reachable`] and, with the feature `probe`, `LauncherProbe`.
//!
//! ```
//! use std::path::Path;
//!
//! use mcp_sandbox_meta::{RawMeta, SandboxLauncher, SandboxMetadata, advertises_sandbox_state};
//! use serde_json::value::RawValue;
//!
//! let answer = r#"{"capabilities":{"experimental":{"codex/sandbox-state":{}}}}"#;
//! assert!(advertises_sandbox_state(answer));
//!
//! let from_caller: &RawValue = serde_json::from_str(r#"{"trace": 7, "progressToken": 1}"#)?;
//! let mut meta = RawMeta::without_reserved(from_caller)?;
//!
//! let state = serde_json::from_str(r#"{"permissionProfile":{"type":"disabled"}}"#)?;
//! let launcher = SandboxLauncher::new(Path::new("/usr/local/bin/codex"))?; // as `LauncherProbe` gives it
//! SandboxMetadata::new(state).with_launcher(launcher).insert_into(&mut meta);
//! # assert_eq!(
//! #     serde_json::to_string(&meta)?,
//! #     concat!(
//! #         r#"{"trace":7,"codex/sandbox-state":{"permissionProfile":{"type":"disabled"}},"#,
//! #         r#""codex/sandbox-state-meta":{"permissionProfile":{"type":"disabled"}},"#,
//! #         r#""codex/sandbox-launcher":{"codexExecutable":"/usr/local/bin/codex"}}"#
//! #     )
//! # );
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Features
//!
//! None is on by default. `probe`: `LauncherProbe`, on tokio. `tokio`: a [`SandboxCommand`] becomes a
//! `tokio::process::Command`. `rmcp`: conversions from and to rmcp's types.
//!
//! # What this crate does not do
//!
//! It never looks into a sandbox state beyond telling whether two are the same, decides no policy, searches for no
//! launcher, starts no process but the probe, and needs no MCP library.

mod advertisement;
mod captured_authority;
mod json;
#[cfg(feature = "probe")]
mod launcher_probe;
mod members;
mod placement;
mod raw_meta;
mod reserved;
#[cfg(feature = "rmcp")]
mod rmcp_meta;
mod sandbox_command;
mod sandbox_launcher;
mod sandbox_metadata;
mod sandbox_state;

pub use advertisement::{
    advertise_sandbox_state, advertises_sandbox_state, advertises_sandbox_state_in_value,
};
pub use captured_authority::{AuthorityChanged, CapturedAuthority, Change};
#[cfg(feature = "probe")]
pub use launcher_probe::{LauncherProbe, LauncherProbeError, ProbeFailure};
pub use placement::{EnvironmentLocality, ServerTransport, launcher_is_reachable};
pub use raw_meta::{MetaNotAnObject, RawMeta};
pub use reserved::{
    SANDBOX_LAUNCHER_KEY, SANDBOX_STATE_KEY, SANDBOX_STATE_META_KEY, is_reserved_meta_key,
};
#[cfg(feature = "rmcp")]
pub use rmcp_meta::{StateNotRepresentable, advertise_sandbox_state_to_rmcp};
pub use sandbox_command::{SandboxCommand, SandboxCommandError};
pub use sandbox_launcher::{InvalidLauncherPath, SandboxLauncher};
pub use sandbox_metadata::{InvalidSandboxMetadata, SandboxMetadata};
pub use sandbox_state::SandboxState;

/// Compiles the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
