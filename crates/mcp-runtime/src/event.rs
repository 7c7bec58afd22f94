//! What happens to servers, told as it happens.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mcp_keys::{EnvironmentId, HiddenReason, McpServerKey, ToolKey};
use mcp_telemetry::ErrorCode;
use serde_json::value::RawValue;
use tokio::sync::Notify;

use crate::call::CallId;
use crate::connection::SpokenEra;

/// Transient events an unread stream keeps; beyond that they are dropped and counted.
const TRANSIENT_LIMIT: usize = 1_024;
/// Bytes of text that transient events of an unread stream keep.
const TRANSIENT_BYTES: usize = 4 * 1024 * 1024;

/// Something happened to a server (R3).
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum RuntimeEvent {
    /// The server is being started.
    Starting {
        /// The server.
        server: McpServerKey,
    },
    /// The server is connected and listed.
    Ready {
        /// The server.
        server: McpServerKey,
        /// How many tools it offers, after filters.
        tools: usize,
        /// The era spoken.
        era: SpokenEra,
        /// How long startup took.
        elapsed: Duration,
        /// Whether the listing came from another startup (C1).
        shared: bool,
    },
    /// The server did not answer in one era of the protocol, and is started once more for the other (R5).
    Retrying {
        /// The server.
        server: McpServerKey,
        /// The era tried next.
        era: SpokenEra,
    },
    /// The server could not be started.
    Failed {
        /// The server.
        server: McpServerKey,
        /// Why, bounded.
        code: ErrorCode,
        /// Why, for a person.
        message: String,
        /// The end of its standard error; empty when there was none.
        stderr_tail: String,
    },
    /// The startup was given up because the runtime was shut down.
    Cancelled {
        /// The server.
        server: McpServerKey,
    },
    /// The server's tools were listed again and are not the same.
    CatalogChanged {
        /// The server.
        server: McpServerKey,
        /// How many tools it offers now, after filters.
        tools: usize,
    },
    /// The connection is gone. Attempts to make a new one are not told until one succeeds (R10).
    Disconnected {
        /// The server.
        server: McpServerKey,
        /// How it ended.
        message: String,
        /// The end of its standard error; empty when there was none.
        stderr_tail: String,
        /// Whether a new connection will be made.
        reconnecting: bool,
    },
    /// The server has a new connection, and was listed again (R10).
    Reconnected {
        /// The server.
        server: McpServerKey,
        /// How many tools it offers now, after filters.
        tools: usize,
        /// The era spoken.
        era: SpokenEra,
        /// How long the attempt took that succeeded.
        elapsed: Duration,
        /// Whether the listing came from another startup (C1).
        shared: bool,
        /// How many attempts it took.
        attempts: u32,
    },
    /// The server is configured but not exposed (K8).
    Hidden {
        /// The server, as it is owned.
        server: McpServerKey,
        /// Why, and what would expose it.
        reason: HiddenReason,
    },
    /// Something is wrong with a plugin of an environment, which costs that plugin or one server of it (K9).
    PluginError {
        /// The environment.
        environment: EnvironmentId,
        /// What and where; the typed error is in [`McpRuntime::plugin_errors`](crate::McpRuntime::plugin_errors).
        message: String,
    },
    /// A listing is not what the server meant it to be: cut short, or with entries left out (R8).
    Listing {
        /// The server.
        server: McpServerKey,
        /// What is wrong.
        message: String,
    },
    /// Different tools would have the same name for the model; none of them is offered (K6).
    NameCollision {
        /// The tools.
        tools: Vec<ToolKey>,
    },
    /// A call reports progress. Transient.
    Progress {
        /// The server.
        server: McpServerKey,
        /// The call.
        call: CallId,
        /// How far it is.
        progress: f64,
        /// How far it goes, if known.
        total: Option<f64>,
        /// A word about it.
        message: Option<String>,
    },
    /// The server logs something. Transient.
    Log {
        /// The server.
        server: McpServerKey,
        /// The level, as the server wrote it.
        level: String,
        /// What it logs, unchanged.
        data: Option<Arc<RawValue>>,
    },
    /// Transient events were dropped because nobody read them.
    Dropped {
        /// How many since the last time.
        count: u64,
    },
}

/// Where a runtime's parts put their events.
#[derive(Debug, Clone, Default)]
pub(crate) struct EventSink {
    shared: Arc<Shared>,
}

/// The events of one runtime, in order. State events are never lost; progress and log may be (R3).
#[derive(Debug)]
pub struct EventStream {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    queue: Mutex<Queue>,
    ready: Notify,
}

#[derive(Debug, Default)]
struct Queue {
    events: VecDeque<RuntimeEvent>,
    transient: usize,
    transient_bytes: usize,
    dropped: u64,
    /// Nobody will ever read: the stream was dropped or never taken.
    unread: bool,
    /// Nothing will ever be added.
    ended: bool,
}

impl RuntimeEvent {
    /// The server it is about; `None` for what is about several or none.
    #[must_use]
    pub fn server(&self) -> Option<&McpServerKey> {
        match self {
            Self::Starting { server }
            | Self::Ready { server, .. }
            | Self::Retrying { server, .. }
            | Self::Failed { server, .. }
            | Self::Cancelled { server }
            | Self::CatalogChanged { server, .. }
            | Self::Disconnected { server, .. }
            | Self::Reconnected { server, .. }
            | Self::Hidden { server, .. }
            | Self::Listing { server, .. }
            | Self::Progress { server, .. }
            | Self::Log { server, .. } => Some(server),
            Self::PluginError { .. } | Self::NameCollision { .. } | Self::Dropped { .. } => None,
        }
    }

    /// The bytes that its server chose.
    fn transient_bytes(&self) -> usize {
        match self {
            Self::Progress { message, .. } => message.as_ref().map_or(0, String::len),
            Self::Log { level, data, .. } => {
                level.len() + data.as_ref().map_or(0, |data| data.get().len())
            }
            _ => 0,
        }
    }

    fn is_transient(&self) -> bool {
        matches!(self, Self::Progress { .. } | Self::Log { .. })
    }
}

impl EventSink {
    /// The one stream of this sink.
    pub(crate) fn stream(&self) -> EventStream {
        EventStream {
            shared: self.shared.clone(),
        }
    }

    /// Puts a state event; it is kept until it is read.
    pub(crate) fn state(&self, event: RuntimeEvent) {
        let mut queue = self.shared.queue();
        if queue.unread || queue.ended {
            return;
        }
        queue.tell_dropped();
        queue.events.push_back(event);
        drop(queue);
        self.shared.ready.notify_one();
    }

    /// Puts a progress or log event, or counts it when too many wait.
    pub(crate) fn transient(&self, event: RuntimeEvent) {
        let mut queue = self.shared.queue();
        if queue.unread || queue.ended {
            return;
        }
        let bytes = queue.transient_bytes + event.transient_bytes();
        if queue.transient >= TRANSIENT_LIMIT || bytes > TRANSIENT_BYTES {
            queue.dropped += 1;
            return;
        }
        queue.tell_dropped();
        queue.transient += 1;
        queue.transient_bytes = bytes;
        queue.events.push_back(event);
        drop(queue);
        self.shared.ready.notify_one();
    }

    /// No more events will come.
    pub(crate) fn end(&self) {
        self.shared.queue().ended = true;
        self.shared.ready.notify_one();
    }
}

impl EventStream {
    /// The next event; `None` when the runtime is shut down and everything was read. Cancel-safe.
    pub async fn next(&mut self) -> Option<RuntimeEvent> {
        loop {
            {
                let mut queue = self.shared.queue();
                if let Some(event) = queue.events.pop_front() {
                    queue.transient -= usize::from(event.is_transient());
                    queue.transient_bytes -= event.transient_bytes();
                    return Some(event);
                }
                if queue.dropped > 0 {
                    return Some(RuntimeEvent::Dropped {
                        count: std::mem::take(&mut queue.dropped),
                    });
                }
                if queue.ended {
                    return None;
                }
            }
            self.shared.ready.notified().await;
        }
    }
}

impl Drop for EventStream {
    fn drop(&mut self) {
        *self.shared.queue() = Queue {
            unread: true,
            ..Queue::default()
        };
    }
}

impl Shared {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        // Counters and events are changed together without a panic in between.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Queue {
    /// The gap is told where it is.
    fn tell_dropped(&mut self) {
        if self.dropped > 0 {
            self.events.push_back(RuntimeEvent::Dropped {
                count: std::mem::take(&mut self.dropped),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn starting(number: usize) -> RuntimeEvent {
        RuntimeEvent::Starting {
            server: McpServerKey::host(format!("s{number}").parse().unwrap()),
        }
    }

    fn log() -> RuntimeEvent {
        RuntimeEvent::Log {
            server: McpServerKey::host("s".parse().unwrap()),
            level: "info".to_owned(),
            data: None,
        }
    }

    /// R3
    #[tokio::test(flavor = "current_thread", start_paused = true)]
    async fn state_events_survive_a_flood_and_the_gap_is_counted() {
        let sink = EventSink::default();
        let mut stream = sink.stream();
        for _ in 0..TRANSIENT_LIMIT + 7 {
            sink.transient(log());
        }
        sink.state(starting(1));
        sink.end();
        let mut seen = Vec::new();
        while let Some(event) = stream.next().await {
            seen.push(event);
        }
        assert_eq!(seen.len(), TRANSIENT_LIMIT + 2);
        assert!(matches!(
            seen[TRANSIENT_LIMIT],
            RuntimeEvent::Dropped { count: 7 }
        ));
        assert!(matches!(
            seen[TRANSIENT_LIMIT + 1],
            RuntimeEvent::Starting { .. }
        ));
    }

    /// R3: a server chooses how much it says, and not how much memory that takes.
    #[tokio::test(flavor = "current_thread", start_paused = true)]
    async fn a_flood_of_large_events_is_bounded_by_its_bytes() {
        let sink = EventSink::default();
        let mut stream = sink.stream();
        let large = || RuntimeEvent::Log {
            server: McpServerKey::host("s".parse().unwrap()),
            level: "x".repeat(TRANSIENT_BYTES / 3),
            data: None,
        };
        (0..5).for_each(|_| sink.transient(large()));
        sink.end();
        sink.state(starting(1));
        for _ in 0..3 {
            assert!(matches!(
                stream.next().await,
                Some(RuntimeEvent::Log { .. })
            ));
        }
        assert!(matches!(
            stream.next().await,
            Some(RuntimeEvent::Dropped { count: 2 })
        ));
        assert!(stream.next().await.is_none(), "nothing follows the end");
    }

    #[tokio::test(flavor = "current_thread", start_paused = true)]
    async fn a_dropped_stream_keeps_nothing() {
        let sink = EventSink::default();
        drop(sink.stream());
        sink.state(starting(1));
        assert!(sink.shared.queue().events.is_empty());
    }
}
