//! Without process groups: the leader is ended by its handle, descendants see their input close.

use std::process::ExitStatus;

use tokio::process::Command;

/// Variables without which a program does not start here.
pub(super) const NEEDED: &[&str] = &[
    "APPDATA",
    "COMSPEC",
    "LOCALAPPDATA",
    "PATHEXT",
    "SYSTEMROOT",
    "TEMP",
    "TMP",
    "USERPROFILE",
    "WINDIR",
];

/// Whether two names mean the same variable: their case does not matter here.
pub(super) fn same_variable(one: &str, other: &str) -> bool {
    one.eq_ignore_ascii_case(other)
}

/// A new process group is what keeps a console's Ctrl-C from the child.
pub(super) fn own_group(command: &mut Command) {
    const CREATE_NEW_PROCESS_GROUP: u32 = 0x0000_0200;
    command.creation_flags(CREATE_NEW_PROCESS_GROUP);
}

/// Signals do not exist here.
pub(super) fn signal(_status: ExitStatus) -> Option<i32> {
    None
}

/// Stands for the leader alone, which `kill_on_drop` ends.
#[derive(Debug)]
pub(super) struct Group;

impl Group {
    pub(super) fn of_leader(_pid: u32) -> Self {
        Self
    }

    pub(super) fn is_empty(&mut self) -> bool {
        true
    }

    pub(super) fn terminate(&mut self) {}

    pub(super) fn kill(&mut self) {}
}
