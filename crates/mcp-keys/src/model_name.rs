//! [`ModelName`]: what a model sees of a tool; its documentation states the grammar (K4).

use std::borrow::Borrow;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// What stands between namespace and tool part, and between prefix and server part.
pub(crate) const SEPARATOR: &str = "__";

/// What a model sees of a tool: a flat name, or a namespace and a name in it (K4).
///
/// Made by [`NameProfile::name`](crate::NameProfile::name). Equality, order and hash are those of the flat
/// name. Cloning is cheap.
///
/// # Grammar
///
/// ```text
/// flat name    = namespace "__" tool part
/// namespace    = prefix "__" server part
/// part         = plain | [stem "_"] "x" 10 * base32
/// plain        = word *("_" word), but not ending like a suffix: (^|_)x[a-z2-7]{10}$
/// word         = 1*(letter | digit | "-")          ASCII only
/// ```
///
/// - A *plain* text within its budget is its own part. Any other text becomes a stem and a suffix. The
///   stem is the text with every run of other characters made one `_`, `_` trimmed at both ends, cut to
///   the budget less 12, and trimmed again; the suffix is `_x` and ten characters of lower-case base32
///   (RFC 4648) of the SHA-256 of the original. With an empty stem it is `x` and the ten.
/// - The part of a host-scoped server is that of its name, hashed as `server`, NUL, name.
/// - The part of an environment-scoped server always has a suffix. Its stem is the stem of the name,
///   `_at_`, the stem of the environment id; an empty one is left out with its `_at_`. Hashed are
///   `environment`, NUL, id, NUL, name; neither can hold a NUL.
/// - The tool part is that of the tool's name, hashed as `tool`, NUL, name.
/// - Budgets come from the [`NameProfile`](crate::NameProfile): at limit 64 a server part has 34 bytes (11
///   of the name and 7 of the environment if it has one), at limit 128 it has 66 (27 and 23). A tool part
///   has whatever the server part has left of the limit.
///
/// No part has `_` at an end or two of them in a row, so a flat name comes apart in one way only, and
/// two tools share a name only if their suffixes collide: 50 bits of SHA-256.
///
/// **Changing a name is a breaking change.** Approvals, prompts and caches of hosts hold these names, so
/// no release may give a key another name under the same profile; a golden table in the tests holds
/// them in place.
#[derive(Debug, Clone)]
pub struct ModelName {
    flat: Arc<str>,
    namespace_len: usize,
}

impl ModelName {
    pub(crate) fn new(namespace_len: usize, flat: &str) -> Self {
        debug_assert!(
            flat[namespace_len..].starts_with(SEPARATOR),
            "{flat:?} at {namespace_len}"
        );
        Self {
            flat: flat.into(),
            namespace_len,
        }
    }

    /// The whole, for hosts that give a model a flat list: `mcp__docs__search`.
    #[must_use]
    pub fn flat(&self) -> &str {
        &self.flat
    }

    /// The namespace, for hosts that group tools: `mcp__docs`. It is the same for all tools of a server.
    #[must_use]
    pub fn namespace(&self) -> &str {
        &self.flat[..self.namespace_len]
    }

    /// The name within the [namespace](Self::namespace): `search`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.flat[self.namespace_len + SEPARATOR.len()..]
    }
}

impl fmt::Display for ModelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.flat)
    }
}

impl AsRef<str> for ModelName {
    fn as_ref(&self) -> &str {
        &self.flat
    }
}

// `Borrow` promises equality, order and hash of the flat text, so they are written, not derived.
impl Borrow<str> for ModelName {
    fn borrow(&self) -> &str {
        &self.flat
    }
}

impl PartialEq for ModelName {
    fn eq(&self, other: &Self) -> bool {
        self.flat == other.flat
    }
}

impl Eq for ModelName {}

impl PartialOrd for ModelName {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for ModelName {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.flat.cmp(&other.flat)
    }
}

impl Hash for ModelName {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.flat.hash(state);
    }
}
