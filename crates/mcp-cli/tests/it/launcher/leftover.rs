//! What still runs of everything that was started for a workplace.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use tokio::time::{sleep, timeout};

use super::workplace::Workplace;
use crate::session::wait;

/// In the environment of everything that is started: which workplace it is for.
pub(super) const MARK: &str = "MCP_INTEROP_WORKPLACE";
/// How long what was ended may take to be gone.
const PATIENCE: Duration = Duration::from_secs(10);

/// Waits until nothing runs for a workplace but the programs that stay.
#[track_caller]
pub(super) fn gone(workplace: &Workplace, stay: &[PathBuf]) {
    wait(async {
        let gone = async {
            while running(workplace, stay).is_some() {
                sleep(Duration::from_millis(10)).await;
            }
        };
        let in_time = timeout(PATIENCE, gone).await.is_ok();
        assert!(in_time, "it still runs: {:?}", running(workplace, stay));
    });
}

/// A program that runs for a workplace, and is none of those that stay.
pub(super) fn running(workplace: &Workplace, stay: &[PathBuf]) -> Option<PathBuf> {
    let mark = format!("{MARK}={}", workplace.project().display());
    let processes = fs::read_dir("/proc").expect("a list of processes");
    processes
        .flatten()
        .filter(|process| {
            let environment = fs::read(process.path().join("environ")).unwrap_or_default();
            let mut variables = environment.split(|&byte| byte == 0);
            variables.any(|variable| variable == mark.as_bytes())
        })
        .filter_map(|process| fs::read_link(process.path().join("exe")).ok())
        .find(|program| !stay.contains(program))
}
