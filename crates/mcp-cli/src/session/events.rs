//! A runtime's events as lines.

use mcp_runtime::{EnvironmentId, ErrorCode, EventStream, McpServerKey, RuntimeEvent, ToolKey};
use serde::Serialize;
use serde_json::value::RawValue;

use super::MAIN;
use super::calls::Calls;
use super::lines::Output;
use crate::report::millis;

/// Writes every event of a runtime, until it is shut down or nobody reads.
pub(super) fn forward(mut events: EventStream, runtime: String, calls: Calls, output: Output) {
    tokio::spawn(async move {
        let runtime = (runtime != MAIN).then_some(runtime);
        while let Some(event) = events.next().await {
            let line = Line {
                runtime: runtime.as_deref(),
                event: Event::of(&event, &calls),
            };
            output.line(&line).await;
        }
    });
}

#[derive(Serialize)]
struct Line<'a> {
    #[serde(flatten)]
    event: Event<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    runtime: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
enum Event<'a> {
    Starting(Server<'a>),
    Ready {
        #[serde(flatten)]
        server: Server<'a>,
        tools: usize,
        era: &'a str,
        listing: &'static str,
        elapsed_ms: u64,
    },
    Retrying {
        #[serde(flatten)]
        server: Server<'a>,
        era: &'a str,
    },
    Failed {
        #[serde(flatten)]
        server: Server<'a>,
        code: ErrorCode,
        message: &'a str,
        #[serde(skip_serializing_if = "str::is_empty")]
        stderr_tail: &'a str,
    },
    Cancelled(Server<'a>),
    CatalogChanged {
        #[serde(flatten)]
        server: Server<'a>,
        tools: usize,
    },
    Disconnected {
        #[serde(flatten)]
        server: Server<'a>,
        message: &'a str,
        #[serde(skip_serializing_if = "str::is_empty")]
        stderr_tail: &'a str,
        reconnecting: bool,
    },
    Reconnected {
        #[serde(flatten)]
        server: Server<'a>,
        tools: usize,
        era: &'a str,
        listing: &'static str,
        elapsed_ms: u64,
        attempts: u32,
    },
    Hidden {
        #[serde(flatten)]
        server: Server<'a>,
        reason: String,
    },
    PluginError {
        environment_id: &'a EnvironmentId,
        message: &'a str,
    },
    Listing {
        #[serde(flatten)]
        server: Server<'a>,
        message: &'a str,
    },
    Progress {
        #[serde(flatten)]
        server: Server<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        call: Option<Box<RawValue>>,
        progress: f64,
        #[serde(skip_serializing_if = "Option::is_none")]
        total: Option<f64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        message: Option<&'a str>,
    },
    Log {
        #[serde(flatten)]
        server: Server<'a>,
        level: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        data: Option<&'a RawValue>,
    },
    NameCollision {
        tools: &'a [ToolKey],
    },
    Dropped {
        count: u64,
    },
    /// An event that this program does not know yet.
    Other,
}

#[derive(Serialize)]
struct Server<'a> {
    #[serde(flatten)]
    key: &'a McpServerKey,
}

impl<'a> Event<'a> {
    fn of(event: &'a RuntimeEvent, calls: &Calls) -> Self {
        let of = |key: &'a McpServerKey| Server { key };
        match event {
            RuntimeEvent::Starting { server } => Self::Starting(of(server)),
            RuntimeEvent::Ready {
                server,
                tools,
                era,
                elapsed,
                shared,
            } => Self::Ready {
                server: of(server),
                tools: *tools,
                era: era.as_str(),
                listing: if *shared { "shared" } else { "fetched" },
                elapsed_ms: millis(*elapsed),
            },
            RuntimeEvent::Failed {
                server,
                code,
                message,
                stderr_tail,
            } => Self::Failed {
                server: of(server),
                code: *code,
                message,
                stderr_tail,
            },
            RuntimeEvent::Retrying { server, era } => Self::Retrying {
                server: of(server),
                era: era.as_str(),
            },
            RuntimeEvent::Cancelled { server } => Self::Cancelled(of(server)),
            RuntimeEvent::CatalogChanged { server, tools } => Self::CatalogChanged {
                server: of(server),
                tools: *tools,
            },
            RuntimeEvent::Disconnected {
                server,
                message,
                stderr_tail,
                reconnecting,
            } => Self::Disconnected {
                server: of(server),
                message,
                stderr_tail,
                reconnecting: *reconnecting,
            },
            RuntimeEvent::Reconnected {
                server,
                tools,
                era,
                elapsed,
                shared,
                attempts,
            } => Self::Reconnected {
                server: of(server),
                tools: *tools,
                era: era.as_str(),
                listing: if *shared { "shared" } else { "fetched" },
                elapsed_ms: millis(*elapsed),
                attempts: *attempts,
            },
            RuntimeEvent::Hidden { server, reason } => Self::Hidden {
                server: of(server),
                reason: reason.to_string(),
            },
            RuntimeEvent::PluginError {
                environment,
                message,
            } => Self::PluginError {
                environment_id: environment,
                message,
            },
            RuntimeEvent::Listing { server, message } => Self::Listing {
                server: of(server),
                message,
            },
            RuntimeEvent::Progress {
                server,
                call,
                progress,
                total,
                message,
            } => Self::Progress {
                server: of(server),
                call: calls
                    .request(*call)
                    .and_then(|id| RawValue::from_string(id).ok()),
                progress: *progress,
                total: *total,
                message: message.as_deref(),
            },
            RuntimeEvent::Log {
                server,
                level,
                data,
            } => Self::Log {
                server: of(server),
                level,
                data: data.as_deref(),
            },
            RuntimeEvent::NameCollision { tools } => Self::NameCollision { tools },
            RuntimeEvent::Dropped { count } => Self::Dropped { count: *count },
            _ => Self::Other,
        }
    }
}
