//! Who may read a file, on Windows.

use std::fs::OpenOptions;

/// A file that is made is for whom its directory is: one in a user's profile is that user's alone.
pub(super) fn only_owner(_options: &mut OpenOptions) {}
