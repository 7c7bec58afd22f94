//! The codex/sandbox-state wire contract: under which authority an MCP tool call was issued.
//!
//! A server that starts processes for its tools should confine them as the host would confine its own. A host that knows the
//! contract tells a server that opts in, with every call, the sandbox state it was issued under and the program that
//! can apply it. All of it travels in the request's `_meta`, so a host also has to see to it that nobody else writes
//! those members.
//!
//! The host's side of one call:
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
//! let state = serde_json::from_str(r#"{"permissionProfile":{"type":"disabled"}}"#)?;
//! let launcher = SandboxLauncher::new(Path::new("/usr/local/bin/codex"))?;
//!
//! let mut meta = RawMeta::without_reserved(from_caller)?;
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
//! # What this crate does not do
//!
//! It never looks into a sandbox state beyond telling whether two are the same, decides no policy, starts no process but the probe, and needs no MCP library.

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
