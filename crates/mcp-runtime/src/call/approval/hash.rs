//! A SHA-256, as people write it.

use std::fmt;

use sha2::{Digest, Sha256};

/// Shown as 64 lower-case hex digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Hash([u8; 32]);

impl Hash {
    pub(super) fn of(hashed: Sha256) -> Self {
        Self(hashed.finalize().into())
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}
