//! The contract as hosts and servers use it.

mod authority;
mod command;
mod metadata;
#[cfg(feature = "probe")]
mod probe;
mod recorded;
#[cfg(feature = "rmcp")]
mod rmcp;
#[cfg(feature = "probe")]
mod scenario;
mod server;
mod survival;

use mcp_sandbox_meta::{InvalidSandboxMetadata, SandboxMetadata};
use serde_json::value::RawValue;

/// What a server makes of a `_meta`.
fn read(meta: &str) -> Result<Option<SandboxMetadata>, InvalidSandboxMetadata> {
    SandboxMetadata::from_meta(serde_json::from_str::<&RawValue>(meta).expect("JSON"))
}

/// The metadata of a call with this state and, possibly, this launcher.
fn metadata(state: &str, launcher: Option<&str>) -> SandboxMetadata {
    let launcher = launcher.map_or_else(String::new, |path| {
        format!(r#","codex/sandbox-launcher":{{"codexExecutable":"{path}"}}"#)
    });
    read(&format!(r#"{{"codex/sandbox-state":{state}{launcher}}}"#))
        .expect("well-formed")
        .expect("a state")
}
