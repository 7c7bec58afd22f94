//! Executables that a host names as its launcher, and a look at what is left of them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use tempfile::TempDir;
use tokio::time::sleep;

use crate::host::at_once;

/// A shell script that notes how it was started.
#[derive(Debug)]
pub(super) struct Stub {
    folder: TempDir,
}

impl Stub {
    /// One that goes on with `script`.
    pub(super) fn new(script: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let stub = Self { folder };
        let log = stub.path("log");
        let text = format!(
            "#!/bin/sh\necho $$ \"$@\" >> '{}'\n{script}\n",
            log.display()
        );
        fs::write(stub.path("draft"), text).expect("a writable folder");
        // By another process: a file that this one has open for writing, and a fork of it may have inherited, cannot be
        // executed.
        let copied = Command::new("/bin/sh")
            .args(["-c", "cp draft new && chmod 755 new && mv new launcher"])
            .current_dir(stub.folder.path())
            .status();
        assert!(copied.expect("a shell").success());
        stub
    }

    /// One that says yes, once it is [released](Self::release).
    pub(super) fn waiting() -> Self {
        Self::new("while [ ! -e \"${0%/*}/go\" ]; do sleep 0.01; done")
    }

    pub(super) fn executable(&self) -> PathBuf {
        self.path("launcher")
    }

    pub(super) fn release(&self) {
        fs::write(self.path("go"), "").expect("a writable folder");
    }

    /// What it was asked, once for each start.
    pub(super) fn questions(&self) -> Vec<String> {
        let starts = self.starts();
        let questions = starts.iter().filter_map(|start| start.split_once(' '));
        questions.map(|(_, question)| question.to_owned()).collect()
    }

    /// Waits until it was started; its process.
    pub(super) async fn started(&self) -> u32 {
        until(|| !self.starts().is_empty()).await;
        let starts = self.starts();
        let pid = starts[0].split(' ').next().and_then(|pid| pid.parse().ok());
        pid.expect("a process id")
    }

    fn starts(&self) -> Vec<String> {
        let log = fs::read_to_string(self.path("log")).unwrap_or_default();
        let lines = log
            .split_inclusive('\n')
            .filter(|line| line.ends_with('\n'));
        lines.map(|line| line.trim_end().to_owned()).collect()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

/// Waits until a process was collected.
pub(super) async fn gone(process: u32) {
    until(|| !Path::new(&format!("/proc/{process}")).exists()).await;
}

/// Waits for something that other processes do.
async fn until(condition: impl Fn() -> bool) {
    at_once(async {
        while !condition() {
            sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
}
