//! Everything that a call says about its sandbox.

use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};

use crate::json::Json;
use crate::members::{self, Member};
use crate::raw_meta::RawMeta;
use crate::reserved::{SANDBOX_LAUNCHER_KEY, SANDBOX_STATE_KEY, SANDBOX_STATE_META_KEY};
use crate::sandbox_launcher::SandboxLauncher;
use crate::sandbox_state::SandboxState;

/// The sandbox state a call was issued under, and the launcher that can apply it, where there is one (S2).
///
/// A host makes one with [`new`](Self::new) and writes it with [`insert_into`](Self::insert_into); a server reads it with
/// [`from_meta`](Self::from_meta). It belongs to the call that it came with: a state may name files that are gone once
/// the host has exited, so it is never kept on disk. `Debug` does not show the state.
#[derive(Debug, Clone)]
pub struct SandboxMetadata {
    state: SandboxState,
    launcher: Option<SandboxLauncher>,
}

/// A `_meta` whose sandbox members cannot be relied on (S7). Nothing must run under such a call.
///
/// No message shows the state.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidSandboxMetadata {
    /// `_meta` is no object.
    #[error("`_meta` has to be a JSON object")]
    NotAnObject,
    /// `_meta` says the same thing twice, and readers differ in which one they take.
    #[error("`_meta` has more than one member `{key}`")]
    Repeated {
        /// The member's name.
        key: &'static str,
    },
    /// The state repeats a name within an object, or nests deeper than 128 levels: readers would differ about it.
    #[error("the sandbox state repeats a name or nests too deep")]
    AmbiguousState,
    /// The two names of the state are aliases and have to have the same value, as JSON.
    #[error("`codex/sandbox-state` and `codex/sandbox-state-meta` differ")]
    AliasesDiffer,
    /// The launcher is not an object with an absolute path.
    #[error("`codex/sandbox-launcher` is malformed")]
    MalformedLauncher {
        /// What is wrong with it.
        source: serde_json::Error,
    },
}

impl SandboxMetadata {
    /// A state without a launcher.
    #[must_use]
    pub fn new(state: SandboxState) -> Self {
        Self {
            state,
            launcher: None,
        }
    }

    /// Adds the launcher. A host does so only where [`launcher_is_reachable`](crate::launcher_is_reachable) says that the
    /// server could use it, and after a probe (S4, S5).
    #[must_use]
    pub fn with_launcher(mut self, launcher: SandboxLauncher) -> Self {
        self.launcher = Some(launcher);
        self
    }

    /// The state, opaque.
    #[must_use]
    pub fn state(&self) -> &SandboxState {
        &self.state
    }

    /// The launcher, if the host gave one. Without one nothing may run, unless the operator has said otherwise.
    #[must_use]
    pub fn launcher(&self) -> Option<&SandboxLauncher> {
        self.launcher.as_ref()
    }

    /// Adds the members to `meta`, in this order: the state, its copy under the deprecated name, the launcher (S2).
    ///
    /// `meta` must not have them yet; what comes from anybody else goes through [`RawMeta::without_reserved`] before.
    pub fn insert_into(&self, meta: &mut RawMeta) {
        meta.push(SANDBOX_STATE_KEY, self.state.as_raw());
        meta.push(SANDBOX_STATE_META_KEY, self.state.as_raw());
        if let Some(launcher) = &self.launcher {
            meta.push_json(SANDBOX_LAUNCHER_KEY, &launcher.to_value().to_string());
        }
    }

    /// Reads the `_meta` of a `tools/call`, as it was received (S7). `None`: the host does not speak of a sandbox.
    ///
    /// Either name of the state is enough. Whatever the arguments of the call say is no authority: hand over the
    /// request's `_meta` and nothing else.
    ///
    /// # Errors
    ///
    /// The members are malformed, repeated, or contradict each other.
    pub fn from_meta(meta: &RawValue) -> Result<Option<Self>, InvalidSandboxMetadata> {
        let members =
            members::read(meta.get()).map_err(|_kind| InvalidSandboxMetadata::NotAnObject)?;
        let state = only(&members, SANDBOX_STATE_KEY)?;
        let alias = only(&members, SANDBOX_STATE_META_KEY)?;
        let launcher = only(&members, SANDBOX_LAUNCHER_KEY)?;
        let Some(given) = state.or(alias) else {
            return Ok(None);
        };
        let read =
            |state| Json::read(state).map_err(|_ambiguous| InvalidSandboxMetadata::AmbiguousState);
        let meaning = read(given)?;
        if let Some(alias) = alias.filter(|alias| alias.get() != given.get())
            && read(alias)? != meaning
        {
            return Err(InvalidSandboxMetadata::AliasesDiffer);
        }
        let launcher = launcher
            .map(|launcher| serde_json::from_str(launcher.get()))
            .transpose()
            .map_err(|source| InvalidSandboxMetadata::MalformedLauncher { source })?;
        Ok(Some(Self {
            state: SandboxState::new(given.to_owned()),
            launcher,
        }))
    }

    /// As [`from_meta`](Self::from_meta), of a `_meta` that has been parsed.
    ///
    /// Prefer the text: a parsed object has forgotten repeated members, and `serde_json` has rounded numbers that a
    /// double cannot hold.
    ///
    /// # Errors
    ///
    /// As [`from_meta`](Self::from_meta).
    pub fn from_meta_object(
        meta: &Map<String, Value>,
    ) -> Result<Option<Self>, InvalidSandboxMetadata> {
        let meta = to_raw_value(meta).map_err(|_unwritable| InvalidSandboxMetadata::NotAnObject)?;
        Self::from_meta(&meta)
    }
}

/// The value of the one member that is called `key`.
fn only<'a>(
    members: &[Member<'a>],
    key: &'static str,
) -> Result<Option<&'a RawValue>, InvalidSandboxMetadata> {
    let mut named = members
        .iter()
        .filter(|member| member.name == key.as_bytes());
    let first = named.next().map(|member| member.value);
    if named.next().is_some() {
        return Err(InvalidSandboxMetadata::Repeated { key });
    }
    Ok(first)
}
