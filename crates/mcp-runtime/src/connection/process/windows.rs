//! Without process groups: the leader is ended by its handle, descendants see their input close.

use std::os::windows::process::CommandExt;
use std::process::{Child, Command, ExitStatus};
use std::sync::mpsc;
use std::time::Duration;

use super::parent::Hold;

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

/// What descendants would be known by, if anybody could look for them.
#[derive(Debug)]
pub(super) struct Mark;

/// A new process group is what keeps a console's Ctrl-C from the child.
pub(super) fn prepare(command: &mut Command) -> Mark {
    const CREATE_NEW_PROCESS_GROUP: u32 = 0x0000_0200;
    command.creation_flags(CREATE_NEW_PROCESS_GROUP);
    Mark
}

/// Signals do not exist here.
pub(super) fn signal(_status: ExitStatus) -> Option<i32> {
    None
}

/// Stands for the leader alone. Its parent kills it, when asked to or when this is gone.
#[derive(Debug)]
pub(super) struct Tree {
    hold: Hold,
}

/// How often a child is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// Blocks until the child has ended; kills it when that is asked for, or when nobody can ask any more.
pub(super) fn ended(child: &mut Child, held: &mpsc::Receiver<()>) -> Option<ExitStatus> {
    loop {
        if let Some(status) = child.try_wait().ok()? {
            return Some(status);
        }
        match held.recv_timeout(LOOK_EVERY) {
            Err(mpsc::RecvTimeoutError::Timeout) => {}
            Ok(()) | Err(mpsc::RecvTimeoutError::Disconnected) => {
                // It has ended already, or nobody can end it.
                let _ = child.kill();
                return child.wait().ok();
            }
        }
    }
}

impl Tree {
    pub(super) fn of(_leader: &Child, _mark: Mark, hold: Hold) -> Self {
        Self { hold }
    }

    #[expect(
        clippy::unused_async,
        reason = "elsewhere it is done beside the executor"
    )]
    pub(super) async fn survey(&mut self) {}

    pub(super) fn close_input(&mut self) {}

    #[expect(
        clippy::unused_async,
        reason = "elsewhere it is done beside the executor"
    )]
    pub(super) async fn remains(&mut self) -> bool {
        false
    }

    #[expect(
        clippy::unused_async,
        reason = "elsewhere there is something to wait for"
    )]
    pub(super) async fn dwindled(&mut self) {}

    pub(super) fn terminate(&self) {}

    #[expect(
        clippy::unused_async,
        reason = "elsewhere it is done beside the executor"
    )]
    pub(super) async fn kill(&mut self) {
        // Full when it was asked for already.
        let _ = self.hold.try_send(());
    }

    pub(super) fn let_go(self) {}
}
