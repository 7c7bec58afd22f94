//! The `_meta` of a request, with every member as it was spelled.

use std::fmt;

use serde::ser::{Error as _, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::members;
use crate::reserved::is_reserved;

/// A request's `_meta`: an object whose members keep their order, their spelling and their repetitions.
///
/// Only white space between members is not kept. `Debug` shows the size, never the contents.
///
/// ```
/// use mcp_sandbox_meta::{RawMeta, SANDBOX_STATE_KEY};
/// use serde_json::value::{RawValue, to_raw_value};
///
/// let of_caller: &RawValue =
///     serde_json::from_str(r#"{"id": 1e2, "codex/sandbox-state": "forged"}"#)?;
/// let mut meta = RawMeta::without_reserved(of_caller)?;
/// meta.push(SANDBOX_STATE_KEY, &to_raw_value("ours")?);
/// assert_eq!(
///     serde_json::to_string(&meta)?,
///     r#"{"id":1e2,"codex/sandbox-state":"ours"}"#
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
pub struct RawMeta {
    /// The members as JSON text, with the commas between them.
    members: String,
}

/// A `_meta` that is no JSON object.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`_meta` has to be a JSON object")]
#[non_exhaustive]
pub struct MetaNotAnObject;

impl RawMeta {
    /// An empty object.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            members: String::new(),
        }
    }

    /// The members of `meta` that are not reserved (S6; see [`is_reserved_meta_key`](crate::is_reserved_meta_key)).
    ///
    /// For what comes from a caller, a model, a hook or an access lookup. Names are compared decoded, so that no
    /// spelling gets a reserved member past. Only top-level members are looked at.
    ///
    /// # Errors
    ///
    /// `meta` is not a JSON object.
    pub fn without_reserved(meta: &RawValue) -> Result<Self, MetaNotAnObject> {
        // The text is JSON already: all that can be wrong is its kind.
        let Ok(read) = members::read(meta.get()) else {
            return Err(MetaNotAnObject);
        };
        let mut kept = Self::new();
        for member in read {
            if !is_reserved(&member.name) {
                kept.push_spelled(member.spelled.get(), member.value.get());
            }
        }
        Ok(kept)
    }

    /// Adds a member at the end. It neither replaces one of the same name nor is checked against the reserved names:
    /// this is how the host adds its own.
    pub fn push(&mut self, key: &str, value: &RawValue) {
        self.push_json(key, value.get());
    }

    /// As [`push`](Self::push); the value is a text.
    pub fn push_text(&mut self, key: &str, text: &str) {
        self.push_json(key, &spelled(text));
    }

    /// As [`push`](Self::push); `value` is JSON.
    pub(crate) fn push_json(&mut self, key: &str, value: &str) {
        self.push_spelled(&spelled(key), value);
    }

    /// Adds the members of `other` at the end, under the same terms as [`push`](Self::push).
    pub fn extend(&mut self, other: &Self) {
        if !self.is_empty() && !other.is_empty() {
            self.members.push(',');
        }
        self.members.push_str(&other.members);
    }

    /// As [`extend`](Self::extend); the members of `other` take the place of those with the same names.
    pub fn replace_with(&mut self, other: &Self) {
        let (mine, theirs) = (self.text(), other.text());
        // Both are objects already.
        if let (Ok(mine), Ok(theirs)) = (members::read(&mine), members::read(&theirs)) {
            let stays = |name: &[u8]| theirs.iter().all(|member| member.name != name);
            *self = Self::new();
            for member in mine.iter().filter(|member| stays(&member.name)) {
                self.push_spelled(member.spelled.get(), member.value.get());
            }
        }
        self.extend(other);
    }

    /// Whether there is no member.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    fn text(&self) -> String {
        format!("{{{}}}", self.members)
    }

    fn push_spelled(&mut self, key: &str, value: &str) {
        if !self.members.is_empty() {
            self.members.push(',');
        }
        self.members.push_str(key);
        self.members.push(':');
        self.members.push_str(value);
    }
}

/// A text as JSON.
fn spelled(text: &str) -> String {
    serde_json::to_string(text).expect("every text can be written as JSON")
}

/// Writes the members as they are; `serializer` has to be one of `serde_json`.
impl Serialize for RawMeta {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        RawValue::from_string(self.text())
            .map_err(S::Error::custom)?
            .serialize(serializer)
    }
}

impl fmt::Debug for RawMeta {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RawMeta(<{} bytes>)", self.members.len())
    }
}

#[cfg(test)]
mod tests;
