//! A server whose listings wait until the test lets them through.

use std::fs;
use std::path::PathBuf;

use mcp_runtime::{Era, ServerConfig, StdioTransport};
use mcp_testkit::{Script, ServerLog, ServerProcess};
use rustix::process::{Pid, Signal, getpgid, kill_process_group};
use serde_json::Value;
use tempfile::TempDir;

use crate::host::{SERVER, logged};

/// Plays a script and keeps back every line that holds a listing, or refuses one, until there is a file.
const GATE: &str = r#""$0" "$1" "$2" | while IFS= read -r line; do
    case $line in *'"tools":['* | *'"error":'*) until [ -e "$3" ]; do sleep 0.01; done ;; esac
    printf '%s\n' "$line"
done"#;

/// Any number of processes that play one script, write one log, and wait at one gate.
///
/// The log has a request as soon as a server reads it, so a test knows who fetches before anybody has a listing. It also
/// knows who has joined: the tests run on one thread, where the acknowledgement of a handshake is written only after
/// the startup that queued it has joined and waits.
#[derive(Debug)]
pub(super) struct Gated {
    process: ServerProcess,
    dir: TempDir,
}

impl Gated {
    /// The gate is closed.
    pub(super) fn new(script: &Script) -> Self {
        let dir = TempDir::with_prefix("gate-").expect("a temporary directory");
        Self {
            process: script.command(),
            dir,
        }
    }

    pub(super) fn log(&self) -> ServerLog {
        self.process.log()
    }

    pub(super) fn transport(&self) -> StdioTransport {
        self.transport_with(None)
    }

    /// With an argument more, which changes nothing about what the server does.
    pub(super) fn transport_with(&self, argument: Option<&str>) -> StdioTransport {
        StdioTransport::new("sh").args(self.arguments(argument))
    }

    /// Started by another program, as an executor would.
    pub(super) fn transport_behind(&self, program: &str) -> StdioTransport {
        let mut args = self.arguments(None);
        args.insert(0, "sh".to_owned());
        StdioTransport::new(program).args(args)
    }

    fn arguments(&self, more: Option<&str>) -> Vec<String> {
        let text = |path: std::ffi::OsString| path.into_string().expect("test paths are text");
        let mut args = vec!["-c".to_owned(), GATE.to_owned()];
        args.push(text(self.process.program().into()));
        args.extend(self.process.args().into_iter().map(text));
        args.push(text(self.gate().into()));
        args.extend(more.map(str::to_owned));
        args
    }

    pub(super) fn config(&self) -> ServerConfig {
        legacy(self.transport())
    }

    /// Lets every listing through from now on.
    pub(super) fn open(&self) {
        fs::write(self.gate(), []).expect("a file");
    }

    /// Keeps listings back again.
    pub(super) fn close(&self) {
        fs::remove_file(self.gate()).expect("an open gate");
    }

    /// Waits until so many startups have shaken hands, and with that joined.
    pub(super) async fn joined(&self, startups: usize) {
        logged(&self.log(), |log| {
            log.count("notifications/initialized") == startups
        })
        .await;
    }

    /// Waits until so many listings were asked for; the processes that were asked, in order.
    pub(super) async fn listing(&self, listings: usize) -> Vec<i32> {
        let log = self.log();
        logged(&log, |log| log.count("tools/list") >= listings).await;
        self.asked("tools/list")
    }

    /// The processes that were asked this, in order.
    pub(super) fn asked(&self, method: &str) -> Vec<i32> {
        let entries = self.log().entries();
        let asked = entries
            .iter()
            .filter(|entry| entry["message"]["method"] == method);
        asked.map(pid).collect()
    }

    /// Ends a server, and what it has not said yet, without any clean-up.
    pub(super) fn kill(&self, server: i32) {
        let server = Pid::from_raw(server).expect("a process id");
        let group = getpgid(Some(server)).expect("a living server");
        kill_process_group(group, Signal::KILL).expect("a group of our own");
    }

    /// Waits until the client has answered a request of the server's own.
    pub(super) async fn answered(&self, id: &str) {
        let log = self.log();
        logged(&log, |log| {
            log.messages().iter().any(|message| message["id"] == id)
        })
        .await;
    }

    fn gate(&self) -> PathBuf {
        self.dir.path().join("open")
    }
}

/// A server that is started once, for the legacy era.
pub(super) fn legacy(transport: StdioTransport) -> ServerConfig {
    let name = SERVER.parse().expect("a server name");
    ServerConfig::stdio(name, transport).era(Era::Legacy)
}

fn pid(entry: &Value) -> i32 {
    let pid = entry["pid"].as_i64().expect("every entry has a process id");
    i32::try_from(pid).expect("a process id")
}
