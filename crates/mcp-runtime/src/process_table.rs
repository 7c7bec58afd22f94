//! Every process a runtime has started and that may still be there.

use std::sync::{Mutex, MutexGuard, PoisonError};

use futures_util::future::join_all;
use mcp_keys::McpServerKey;

use crate::connection::Process;
use crate::deadline::Deadline;

/// The processes of one runtime, failed startups included.
#[derive(Debug, Default)]
pub(crate) struct ProcessTable {
    processes: Mutex<Vec<(McpServerKey, Process)>>,
}

impl ProcessTable {
    pub(crate) fn add(&self, server: &McpServerKey, process: Process) {
        let mut processes = self.processes();
        processes.retain(|(_, process)| !process.is_over());
        processes.push((server.clone(), process));
    }

    /// Ends every process of a server, in stages; returns when nothing of them is left.
    pub(crate) async fn end(&self, server: &McpServerKey) {
        let processes = self.of(|owner| owner == server);
        for process in &processes {
            process.stop();
        }
        join_all(processes.iter().map(Process::ended)).await;
    }

    /// Asks every process to end; returns at once.
    pub(crate) fn stop(&self) {
        for (_, process) in self.processes().iter() {
            process.stop();
        }
    }

    /// Waits until every process tree is gone, and kills what is left shortly before the deadline; the ids of the
    /// processes of whose tree something had to be killed (R11).
    pub(crate) async fn ended(&self, deadline: &Deadline) -> Vec<u32> {
        let processes = self.of(|_| true);
        let all = || join_all(processes.iter().map(Process::ended));
        let patience = Deadline::after(deadline.remaining().mul_f64(PATIENCE));
        if patience.bound(all()).await.is_err() {
            for process in &processes {
                process.kill();
            }
            // What the operating system cannot end within the rest is reported as killed all the same.
            let _ = deadline.bound(all()).await;
        }
        let killed = processes
            .iter()
            .filter(|process| process.exit().is_none_or(|exit| exit.killed()));
        let mut killed: Vec<u32> = killed.filter_map(Process::pid).collect();
        killed.sort_unstable();
        killed
    }

    fn of(&self, is_meant: impl Fn(&McpServerKey) -> bool) -> Vec<Process> {
        let processes = self.processes();
        let meant = processes.iter().filter(|(server, _)| is_meant(server));
        meant.map(|(_, process)| process.clone()).collect()
    }

    fn processes(&self) -> MutexGuard<'_, Vec<(McpServerKey, Process)>> {
        // Handles are whole in any state.
        self.processes
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// The part of a shutdown's budget during which processes may end in their own way.
const PATIENCE: f64 = 0.8;
