//! Executables that answer, hang, or leave children behind, and a look at what is left of them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use tempfile::TempDir;
use tokio::time::{sleep, timeout};

/// Long enough for a machine under load; nothing waits for it unless something is broken.
const PATIENCE: Duration = Duration::from_secs(20);

/// A shell script that notes each of its starts.
pub(super) struct Stub {
    folder: TempDir,
}

impl Stub {
    pub(super) fn new(script: &str) -> Self {
        let stub = Self {
            folder: tempfile::tempdir().expect("a temporary folder"),
        };
        stub.replace(script);
        stub
    }

    /// Puts another script into its place. The file is written by another process: one that this process has open for
    /// writing, and a fork of it may have inherited, cannot be executed.
    pub(super) fn replace(&self, script: &str) {
        let log = self.path("log");
        let text = format!("#!/bin/sh\necho $$ >> '{}'\n{script}\n", log.display());
        self.write("a b;$(c)", &text);
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path("draft"), text).expect("a writable folder");
        let copied = Command::new("/bin/sh")
            .args([
                "-c",
                "cp draft new && chmod 755 new && mv new \"$1\"",
                "sh",
                name,
            ])
            .current_dir(self.folder.path())
            .status();
        assert!(copied.expect("a shell").success());
    }

    /// Its name would not survive a shell.
    pub(super) fn executable(&self) -> PathBuf {
        self.path("a b;$(c)")
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Lets scripts go on that wait for it.
    pub(super) fn release(&self) {
        fs::write(self.path("go"), "").expect("a writable folder");
    }

    /// A script that waits for [`release`](Self::release) and goes on with `then`.
    pub(super) fn waiting(then: &str) -> Self {
        let stub = Self::new("");
        let go = stub.path("go");
        stub.replace(&format!(
            "while [ ! -e '{}' ]; do sleep 0.01; done\n{then}",
            go.display()
        ));
        stub
    }

    /// A script that says how to start `orphan`, goes on when that runs, and ends as told.
    pub(super) fn parent(starts: &str, ends: &str) -> Self {
        let stub = Self::new("");
        let folder = stub.folder.path().display().to_string();
        stub.write(
            "orphan",
            &format!("#!/bin/sh\necho $$ > '{folder}/pid' && mv '{folder}/pid' '{folder}/orphaned'\nexec sleep 1000\n"),
        );
        stub.replace(&format!(
            "cd '{folder}'\nPATH=$PATH:.\n{starts}\nwhile [ ! -e orphaned ]; do sleep 0.01; done\n{ends}"
        ));
        stub
    }

    /// Waits until the orphan runs; its process id.
    pub(super) async fn orphan(&self) -> u32 {
        let pid = || {
            fs::read_to_string(self.path("orphaned"))
                .ok()?
                .trim()
                .parse()
                .ok()
        };
        until("the orphan runs", || pid().is_some()).await;
        pid().expect("it was there")
    }

    /// The process ids of all starts so far.
    pub(super) fn starts(&self) -> Vec<u32> {
        let log = fs::read_to_string(self.path("log")).unwrap_or_default();
        log.lines()
            .map(|line| line.parse().expect("a process id"))
            .collect()
    }

    /// Waits until it has been started `count` times; the process of the last start.
    pub(super) async fn started(&self, count: usize) -> u32 {
        until("it started", || self.starts().len() >= count).await;
        self.starts()[count - 1]
    }
}

/// Waits until nothing of the process group is left.
pub(super) async fn gone(leader: u32) {
    until("the group is gone", || {
        !Path::new(&format!("/proc/{leader}")).exists() && members(leader) == 0
    })
    .await;
}

/// Waits until a process has ended.
pub(super) async fn ended(process: u32) {
    let stat = || fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    until("the process has ended", || {
        stat()
            .rsplit_once(')')
            .is_none_or(|(_, after)| after.trim_start().starts_with('Z'))
    })
    .await;
}

/// How many threads of this process look after a probe.
pub(super) fn threads() -> usize {
    let threads = fs::read_dir("/proc/self/task").expect("a list of threads");
    let names = threads
        .flatten()
        .filter_map(|thread| fs::read_to_string(thread.path().join("comm")).ok());
    names.filter(|name| name.trim() == "launcher-probe").count()
}

/// How many processes of the group run. A dead one that init has not looked after yet is nobody's fault.
pub(super) fn members(group: u32) -> usize {
    let processes = fs::read_dir("/proc")
        .expect("a list of processes")
        .filter_map(Result::ok);
    let running = processes.filter(|process| {
        let stat = fs::read_to_string(process.path().join("stat")).unwrap_or_default();
        // After the name, which may hold anything: state, parent, group.
        let after = stat.rsplit_once(')').map_or("", |(_, after)| after);
        let fields: Vec<_> = after.split_whitespace().collect();
        fields.first().is_some_and(|state| *state != "Z")
            && fields.get(2) == Some(&group.to_string().as_str())
    });
    running.count()
}

/// Waits for something that other processes do.
pub(super) async fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let met = async {
        while !condition() {
            sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(PATIENCE, met).await.expect(what);
}
