//! What scripted server processes saw, read back by the test.

use std::fs;
use std::panic::Location;
use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::time::{Instant, sleep};

use crate::failure::fail;
use crate::os;

/// How long the waiting expectations wait.
const DEADLINE: Duration = Duration::from_secs(10);
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// The log of a [`ServerProcess`](crate::ServerProcess): one JSON object a line, each with the `pid` that wrote it.
///
/// - `{"dir":"in","message":{..}}` what the client sent; `"text"` instead of `"message"` when it was not JSON
/// - `{"dir":"event","event":"start","cwd":"..","args":[..],"env":{..}}` a process began
/// - `{"dir":"event","event":"spawned","child":1234}` it started a grandchild
/// - `{"dir":"event","event":"end"}` its stdin ended
/// - `{"dir":"event","event":"failed","action":"..","error":".."}` it could not do what the script said
///
/// The waiting expectations look again until the log has it: processes run in real time, so they are not for a paused
/// clock.
#[derive(Debug, Clone)]
pub struct ServerLog {
    path: PathBuf,
}

impl ServerLog {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path }
    }

    /// Every entry so far, in order; none before a process was started.
    #[must_use]
    pub fn entries(&self) -> Vec<Value> {
        self.read()
    }

    fn read<T: DeserializeOwned>(&self) -> Vec<T> {
        let log = fs::read(&self.path).unwrap_or_default();
        // A line without its end is still being written.
        log.split_inclusive(|&byte| byte == b'\n')
            .filter(|line| line.ends_with(b"\n"))
            .filter_map(|line| serde_json::from_slice(line).ok())
            .collect()
    }

    /// As [`messages`](Self::messages), each as the client wrote it.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        #[derive(Deserialize)]
        struct Entry {
            message: Box<RawValue>,
        }
        let entries = self.read::<Entry>().into_iter();
        entries
            .map(|entry| entry.message.get().to_owned())
            .collect()
    }

    /// Every JSON message the client sent so far, over all processes.
    #[must_use]
    pub fn messages(&self) -> Vec<Value> {
        self.entries()
            .iter()
            .filter_map(|entry| entry.get("message").cloned())
            .collect()
    }

    /// How often the client sent this method.
    #[must_use]
    pub fn count(&self, method: &str) -> usize {
        self.messages()
            .iter()
            .filter(|message| message["method"] == method)
            .count()
    }

    /// How often the client called this tool.
    #[must_use]
    pub fn count_calls(&self, tool: &str) -> usize {
        let is_call = |message: &&Value| {
            message["method"] == "tools/call" && message["params"]["name"] == tool
        };
        self.messages().iter().filter(is_call).count()
    }

    /// The entries with this event.
    #[must_use]
    pub fn events(&self, event: &str) -> Vec<Value> {
        self.entries()
            .into_iter()
            .filter(|entry| entry["event"] == event)
            .collect()
    }

    /// Every process the log knows, grandchildren included.
    #[must_use]
    pub fn pids(&self) -> Vec<u32> {
        let started = self
            .events("start")
            .into_iter()
            .map(|entry| entry["pid"].clone());
        let spawned = self
            .events("spawned")
            .into_iter()
            .map(|entry| entry["child"].clone());
        started
            .chain(spawned)
            .filter_map(|pid| pid.as_u64().and_then(|pid| u32::try_from(pid).ok()))
            .collect()
    }

    /// Those of [`pids`](Self::pids) that are alive. A process that has ended but was not collected counts as dead.
    #[must_use]
    pub fn alive(&self) -> Vec<u32> {
        self.pids()
            .into_iter()
            .filter(|&pid| os::is_alive(pid))
            .collect()
    }

    /// Waits until the client has sent this method `times` times.
    ///
    /// # Panics
    ///
    /// When it has not within 10 s.
    #[track_caller]
    pub fn expect(&self, method: &str, times: usize) -> impl Future<Output = ()> {
        let at = Location::caller();
        async move {
            if !held(|| self.count(method) >= times).await {
                fail(
                    at,
                    format_args!(
                        "expected {method:?} {times} times, the log has: {:#?}",
                        self.messages()
                    ),
                );
            }
        }
    }

    /// Waits until no process the log knows is alive.
    ///
    /// # Panics
    ///
    /// When some are alive after 10 s, or when the log knows none: nothing can outlive nothing.
    #[track_caller]
    pub fn expect_all_gone(&self) -> impl Future<Output = ()> {
        let at = Location::caller();
        async move {
            if self.pids().is_empty() {
                fail(
                    at,
                    "expected all processes to be gone, but none was ever started",
                );
            }
            if !held(|| self.alive().is_empty()).await {
                fail(
                    at,
                    format_args!(
                        "expected all processes to be gone, still alive: {:?}",
                        self.alive()
                    ),
                );
            }
        }
    }
}

/// Whether the condition came to hold within the deadline.
async fn held(condition: impl Fn() -> bool) -> bool {
    let deadline = Instant::now() + DEADLINE;
    while !condition() {
        if Instant::now() >= deadline {
            return false;
        }
        sleep(LOOK_EVERY).await;
    }
    true
}
