//! The authority that something long-lived was started under.

use std::fmt;

use crate::sandbox_metadata::SandboxMetadata;

/// The authority of the call that started a subprocess, or whose result is cached (S7).
///
/// A sandbox is put on when a process starts, and the host may change its mind between two calls. So keep this beside
/// whatever outlives a call, and [`check`](Self::check) the authority of every later call before using it again.
///
/// ```
/// # #[cfg(unix)] {
/// use mcp_sandbox_meta::{CapturedAuthority, SandboxMetadata};
/// use serde_json::value::RawValue;
///
/// let read = |meta| SandboxMetadata::from_meta(serde_json::from_str::<&RawValue>(meta).unwrap()).unwrap();
/// let started_under = CapturedAuthority::capture(read(r#"{"codex/sandbox-state": {"a": 1, "b": 2}}"#).as_ref());
///
/// assert!(started_under.check(read(r#"{"codex/sandbox-state": {"b": 2, "a": 1}}"#).as_ref()).is_ok());
/// let changed = started_under.check(read(r#"{"codex/sandbox-state": {"a": 1}}"#).as_ref()).unwrap_err();
/// assert_eq!(changed.to_string(), "the authority changed: another sandbox state");
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct CapturedAuthority {
    metadata: Option<SandboxMetadata>,
}

/// The later call was issued under another authority: what was kept must not be used for it.
///
/// Says what changed, and shows no part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuthorityChanged {
    state: Option<Change>,
    launcher: Option<Change>,
}

/// How something differs from what was captured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// There is one now, and there was none.
    Appeared,
    /// There was one, and there is none now.
    Vanished,
    /// There are two, and they differ.
    Replaced,
}

impl CapturedAuthority {
    /// Keeps the authority of a call. `None` is a call without one, whose program an operator let run all the same.
    #[must_use]
    pub fn capture(metadata: Option<&SandboxMetadata>) -> Self {
        Self {
            metadata: metadata.cloned(),
        }
    }

    /// Whether a later call has the same authority: a state that reads the same as JSON, and the same launcher.
    ///
    /// # Errors
    ///
    /// It has not, or it cannot be told.
    pub fn check(&self, later: Option<&SandboxMetadata>) -> Result<(), AuthorityChanged> {
        let captured = self.metadata.as_ref();
        let changed = AuthorityChanged {
            state: Change::between(
                captured.map(SandboxMetadata::state),
                later.map(SandboxMetadata::state),
                |one, other| one.is_same(other),
            ),
            launcher: Change::between(
                captured.and_then(SandboxMetadata::launcher),
                later.and_then(SandboxMetadata::launcher),
                PartialEq::eq,
            ),
        };
        if changed.state.is_some() || changed.launcher.is_some() {
            return Err(changed);
        }
        Ok(())
    }
}

impl AuthorityChanged {
    /// What happened to the state.
    #[must_use]
    pub fn state(&self) -> Option<Change> {
        self.state
    }

    /// What happened to the launcher.
    #[must_use]
    pub fn launcher(&self) -> Option<Change> {
        self.launcher
    }
}

impl Change {
    fn between<T>(
        before: Option<&T>,
        now: Option<&T>,
        same: impl FnOnce(&T, &T) -> bool,
    ) -> Option<Self> {
        match (before, now) {
            (None, None) => None,
            (None, Some(_)) => Some(Self::Appeared),
            (Some(_), None) => Some(Self::Vanished),
            (Some(before), Some(now)) => (!same(before, now)).then_some(Self::Replaced),
        }
    }

    fn article(self) -> &'static str {
        match self {
            Self::Appeared => "a",
            Self::Vanished => "no more",
            Self::Replaced => "another",
        }
    }
}

impl fmt::Display for AuthorityChanged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the authority changed: ")?;
        if let Some(change) = self.state {
            write!(f, "{} sandbox state", change.article())?;
        }
        if self.state.is_some() && self.launcher.is_some() {
            f.write_str(", ")?;
        }
        if let Some(change) = self.launcher {
            write!(f, "{} launcher", change.article())?;
        }
        Ok(())
    }
}

impl std::error::Error for AuthorityChanged {}
