//! The sandbox state: what everybody passes on and nobody but the launcher reads.

use std::fmt;
use std::sync::Arc;

use serde::de::{Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};
use serde_json::value::RawValue;

use crate::json::Json;

/// The value of `codex/sandbox-state`, opaque (S3): any JSON, kept and written exact to the byte.
///
/// It has no accessors for its parts on purpose: its shape is the launcher's business and has changed before. Cloning
/// shares the text. `Debug` shows the size, never the contents, which name paths and permissions.
#[derive(Clone)]
pub struct SandboxState(Arc<RawValue>);

impl SandboxState {
    /// The state that `json` is.
    #[must_use]
    pub fn new(json: Box<RawValue>) -> Self {
        Self(Arc::from(json))
    }

    /// The state as it was given.
    #[must_use]
    pub fn as_raw(&self) -> &RawValue {
        &self.0
    }

    /// Whether everybody would read the same out of both. In doubt it is `false`.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let (one, other) = (self.as_raw(), other.as_raw());
        one.get() == other.get()
            || matches!((Json::read(one), Json::read(other)), (Ok(one), Ok(other)) if one == other)
    }
}

/// Writes the state as it was given; `serializer` has to be one of `serde_json`.
impl Serialize for SandboxState {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.as_ref().serialize(serializer)
    }
}

/// Takes the text of any JSON value; `deserializer` has to be one of `serde_json` that reads text.
impl<'de> Deserialize<'de> for SandboxState {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Box::<RawValue>::deserialize(deserializer).map(Self::new)
    }
}

impl fmt::Debug for SandboxState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SandboxState(<{} bytes>)", self.0.get().len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// S3
    #[track_caller]
    fn check(json: &str) {
        let state: SandboxState = serde_json::from_str(json).unwrap();
        assert_eq!(state.as_raw().get(), json);
        assert_eq!(serde_json::to_string(&state).unwrap(), json);
        let nested = serde_json::to_string(&[(1, state.clone())]).unwrap();
        assert_eq!(nested, format!("[[1,{json}]]"));
        assert_eq!(
            format!("{state:?}"),
            format!("SandboxState(<{} bytes>)", json.len())
        );
    }

    #[test]
    fn any_json_is_kept_to_the_byte_and_never_shown() {
        check(
            r#"{"permissionProfile":{"type":"disabled"},"sandboxCwd":"file:///home/user/project"}"#,
        );
        check(r#"{ "z": 1e2, "a": 18446744073709551616, "z": [1.0,  2] }"#);
        check(r#""\u0061""#);
        check("null");
    }
}
