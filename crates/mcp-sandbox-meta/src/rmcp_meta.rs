//! Sandbox metadata in rmcp's types, for servers and hosts that use rmcp.

use rmcp::model::{RequestMetaObject, ServerCapabilities};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use crate::json::Json;
use crate::reserved::{SANDBOX_LAUNCHER_KEY, SANDBOX_STATE_KEY, SANDBOX_STATE_META_KEY};
use crate::sandbox_metadata::{InvalidSandboxMetadata, SandboxMetadata};

/// A state that a parsed object cannot carry whole (S3): numbers that change their spelling, repeated names, text with
/// half a surrogate pair, more levels than are parsed. It shows no part of the state.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the sandbox state would change as a parsed value; send it as raw JSON")]
#[non_exhaustive]
pub struct StateNotRepresentable;

impl SandboxMetadata {
    /// Reads the `_meta` that rmcp hands to a handler (`RequestContext::meta`), as
    /// [`from_meta_object`](Self::from_meta_object), whose limits apply.
    ///
    /// # Errors
    ///
    /// As [`from_meta`](Self::from_meta).
    pub fn from_rmcp_meta(
        meta: &RequestMetaObject,
    ) -> Result<Option<Self>, InvalidSandboxMetadata> {
        Self::from_meta_object(&meta.0.0)
    }

    /// As [`insert_into`](Self::insert_into), for rmcp's parsed `_meta`. Members of the same names are replaced.
    ///
    /// # Errors
    ///
    /// The state would not survive whole. Nothing was inserted then.
    pub fn insert_into_rmcp_meta(
        &self,
        meta: &mut RequestMetaObject,
    ) -> Result<(), StateNotRepresentable> {
        let state = parse_whole(self.state().as_raw()).ok_or(StateNotRepresentable)?;
        let object = &mut meta.0.0;
        object.insert(SANDBOX_STATE_KEY.to_owned(), state.clone());
        object.insert(SANDBOX_STATE_META_KEY.to_owned(), state);
        if let Some(launcher) = self.launcher() {
            object.insert(SANDBOX_LAUNCHER_KEY.to_owned(), launcher.to_value());
        }
        Ok(())
    }
}

/// The value of `raw`, if it reads the same when it is written again.
fn parse_whole(raw: &RawValue) -> Option<Value> {
    let value: Value = serde_json::from_str(raw.get()).ok()?;
    let written = to_raw_value(&value).ok()?;
    let whole = Json::read(raw).ok()? == Json::read(&written).ok()?;
    whole.then_some(value)
}

/// Opts a server in (S1): adds `codex/sandbox-state` to its experimental capabilities.
pub fn advertise_sandbox_state_to_rmcp(capabilities: &mut ServerCapabilities) {
    capabilities
        .experimental
        .get_or_insert_default()
        .entry(SANDBOX_STATE_KEY.to_owned())
        .or_default();
}
