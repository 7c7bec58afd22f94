//! Where there is no process table to read: only the group is in reach.

use std::process::Command;

/// Nothing.
#[derive(Debug)]
pub(super) struct Mark;

impl Mark {
    pub(super) fn put(_command: &mut Command) -> Self {
        Self
    }

    #[expect(
        clippy::unused_self,
        reason = "the same signature as where there is one"
    )]
    pub(super) fn kill_all(&self) {}
}
