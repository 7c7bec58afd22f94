//! A child and everything that descends from it, for as long as somebody answers for them.

use std::process::Child;
use std::sync::Arc;
use std::time::Duration;

use rustix::fd::{AsFd, OwnedFd};
use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, getpgid, kill_process, kill_process_group,
    test_kill_process_group, waitid,
};
use tokio::task::spawn_blocking;
use tokio::time::{sleep, timeout};

use super::super::parent::Hold;
use super::descendant::{self, Descendant, Table};
use super::mark::Mark;

/// How often those are looked at who were asked to end. The system tells of one's own children only.
const LOOK_EVERY: Duration = Duration::from_millis(10);
/// How often a tree is looked at before it is killed as far as it is known: each look finds the children that somebody had
/// before it was stopped.
const ROUNDS: usize = 16;
/// How long to wait for a thread that reads the process table.
const READ_PATIENCE: Duration = Duration::from_millis(100);

/// The tree below a child that leads a process group. Killed when dropped, unless it was let go.
#[derive(Debug)]
pub(in super::super) struct Tree {
    leader: Pid,
    mark: Mark,
    state: Leader,
    /// The leader's input, open for as long as it is not to see its end: before anybody has looked whose children its children
    /// are, whatever becomes of whoever writes to it.
    input: Option<OwnedFd>,
    /// Those that were seen and may be alive, in the leader's group and outside.
    descendants: Vec<Descendant>,
}

/// What the leader's number stands for.
#[derive(Debug)]
enum Leader {
    /// The leader, dead or alive: its parent does not collect it while this is there.
    Held { _hold: Hold },
    /// A group that was not empty when it was last looked at.
    Collected,
    /// Perhaps somebody else by now.
    Gone,
}

impl Tree {
    pub(in super::super) fn of(leader: &Child, mark: Mark, hold: Hold) -> Self {
        let input = leader.stdin.as_ref();
        Self {
            leader: Pid::from_child(leader),
            mark,
            // Without one more descriptor it is in the hands of whoever writes.
            input: input.and_then(|input| input.as_fd().try_clone_to_owned().ok()),
            state: Leader::Held { _hold: hold },
            descendants: Vec::new(),
        }
    }

    /// Looks for descendants while the leader lives: whose children they were is not to be told afterwards.
    pub(in super::super) async fn survey(&mut self) {
        if let Some(table) = read_table().await {
            // What could not be taken hold of is in reach of a signal to the group, or not at all.
            let _ = self.adopt(&table);
        }
    }

    /// Lets go of the leader's input. It ends when whoever writes to it has done so, too.
    pub(in super::super) fn close_input(&mut self) {
        self.input = None;
    }

    /// Whether anything is left of a tree whose leader has ended.
    pub(in super::super) async fn remains(&mut self) -> bool {
        if matches!(self.state, Leader::Held { .. })
            && let Some(table) = read_table().await
            && self.adopt(&table).is_ok()
        {
            return !self.descendants.is_empty();
        }
        self.remains_unseen()
    }

    /// As [`remains`](Self::remains), by what can be told without a process table. A leader that was not collected counts for
    /// a member of its group, so it has to be.
    fn remains_unseen(&mut self) -> bool {
        if matches!(self.state, Leader::Held { .. }) {
            self.state = Leader::Collected;
        }
        // Not being allowed to signal somebody means that somebody is there.
        if test_kill_process_group(self.leader) == Err(Errno::SRCH) {
            self.state = Leader::Gone;
        }
        self.descendants.retain(Descendant::is_alive);
        !matches!(self.state, Leader::Gone) || !self.descendants.is_empty()
    }

    /// Waits until the descendants that were seen have ended, and for a moment at least.
    pub(in super::super) async fn dwindled(&mut self) {
        loop {
            sleep(LOOK_EVERY).await;
            self.descendants.retain(Descendant::is_alive);
            if self.descendants.is_empty() {
                return;
            }
        }
    }

    pub(in super::super) fn terminate(&self) {
        self.signal(Signal::TERM);
    }

    /// Kills everybody, whoever is born or leaves the group just then included.
    pub(in super::super) async fn kill(&mut self) {
        for _ in 0..ROUNDS {
            self.signal(Signal::STOP);
            let table = read_table().await;
            if self.stands_still(table.as_deref()) {
                break;
            }
        }
        self.signal(Signal::KILL);
    }

    /// As [`kill`](Self::kill), in place.
    fn kill_in_place(&mut self) {
        for _ in 0..ROUNDS {
            self.signal(Signal::STOP);
            let table = descendant::read_table();
            if self.stands_still(table.as_deref()) {
                break;
            }
        }
        self.signal(Signal::KILL);
    }

    /// Whether everybody in the table was stopped before it was read. Whoever is stopped has no more children, and does not
    /// leave those whom it has.
    fn stands_still(&mut self, table: Option<&Table>) -> bool {
        // Who cannot be seen, or not be held, will not be found by looking again.
        !table.is_some_and(|table| matches!(self.adopt(table), Ok(1..)))
    }

    /// Answers for nobody any more; the leader may be collected.
    pub(in super::super) fn let_go(mut self) {
        self.state = Leader::Gone;
        self.descendants.clear();
    }

    fn adopt(&mut self, table: &Table) -> Result<usize, Errno> {
        let leader = self.holds_leader().then_some(self.leader);
        descendant::find(leader, &self.mark, table, &mut self.descendants)
    }

    /// Whether the leader's number is its own: it lives, or was not collected. A host may collect children that it did not
    /// start, or have the operating system do it.
    fn holds_leader(&self) -> bool {
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        matches!(self.state, Leader::Held { .. }) && waitid(WaitId::Pid(self.leader), look).is_ok()
    }

    /// Whoever is gone already needs no signal, and whoever may not be signalled gets none.
    fn signal(&self, signal: Signal) {
        let holds_leader = self.holds_leader();
        let reaches_group = holds_leader || matches!(self.state, Leader::Collected);
        if reaches_group {
            let _ = kill_process_group(self.leader, signal);
        }
        if holds_leader && getpgid(Some(self.leader)) != Ok(self.leader) {
            let _ = kill_process(self.leader, signal);
        }
        for descendant in &self.descendants {
            // To ask twice may mean not to be patient any more.
            let was_asked = reaches_group && descendant.is_in(self.leader);
            if signal == Signal::KILL || !was_asked {
                descendant.signal(signal);
            }
        }
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        if matches!(self.state, Leader::Gone) && self.descendants.is_empty() {
            return;
        }
        // Nobody waits here, and whoever drops a tree is to see it killed.
        self.kill_in_place();
    }
}

/// Reads beside the executor, unless nobody there finds the time.
async fn read_table() -> Option<Arc<Table>> {
    match timeout(READ_PATIENCE, spawn_blocking(descendant::read_table)).await {
        Ok(Ok(table)) => table,
        _ => descendant::read_table(),
    }
}

// What they look at is there with a process table only.
#[cfg(all(test, target_os = "linux"))]
mod tests;
