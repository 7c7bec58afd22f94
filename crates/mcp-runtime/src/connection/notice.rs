//! What a server tells us without being asked.
//!
//! Notices are handled where they are read, in the order they came and before the answers that follow them: progress
//! never overtakes the call it belongs to.

use std::sync::Arc;

use mcp_catalog::RefreshGate;
use mcp_keys::McpServerKey;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::calls::Calls;
use crate::call::CallId;
use crate::event::{EventSink, RuntimeEvent};

/// Receives the notices of one connection.
#[derive(Debug, Clone)]
pub(crate) struct Notices {
    key: McpServerKey,
    events: EventSink,
    /// However many changes arrive, it owes one refresh more at most (C9).
    refresh: Arc<RefreshGate>,
    calls: Arc<Calls>,
}

#[derive(Deserialize)]
struct Progress<'a> {
    #[serde(borrow, rename = "progressToken")]
    token: Option<&'a RawValue>,
    #[serde(default)]
    progress: f64,
    #[serde(default)]
    total: Option<f64>,
    #[serde(default)]
    message: Option<String>,
}

#[derive(Deserialize)]
struct Log<'a> {
    #[serde(default)]
    level: Option<String>,
    #[serde(borrow, default)]
    data: Option<&'a RawValue>,
}

impl Notices {
    pub(crate) fn new(
        key: McpServerKey,
        events: EventSink,
        refresh: Arc<RefreshGate>,
        calls: Arc<Calls>,
    ) -> Self {
        Self {
            key,
            events,
            refresh,
            calls,
        }
    }

    /// The tools are to be listed again.
    pub(crate) fn owe_refresh(&self) {
        self.refresh.request();
    }

    /// Handles one notification. `call` finds the call behind a progress token.
    pub(crate) fn receive(
        &self,
        method: &str,
        params: Option<&RawValue>,
        call: impl FnOnce(&RawValue) -> Option<CallId>,
    ) {
        let params = params.map_or("{}", RawValue::get);
        match method {
            "notifications/tools/list_changed" => self.owe_refresh(),
            "notifications/progress" => match serde_json::from_str::<Progress<'_>>(params) {
                Ok(progress) => self.progress(progress, call),
                Err(error) => {
                    tracing::debug!(server = %self.key, %error, "progress that cannot be read");
                }
            },
            "notifications/message" => match serde_json::from_str::<Log<'_>>(params) {
                Ok(log) => self.log(log),
                Err(error) => {
                    tracing::debug!(server = %self.key, %error, "log message that cannot be read");
                }
            },
            _ => tracing::trace!(server = %self.key, method, "notification without a listener"),
        }
    }

    fn progress(&self, progress: Progress<'_>, call: impl FnOnce(&RawValue) -> Option<CallId>) {
        let Progress {
            token,
            progress,
            total,
            message,
        } = progress;
        // Progress of a call that is over, or of none of ours, concerns nobody.
        if let Some(call) = token.and_then(call) {
            self.calls.progressed(call);
            self.events.transient(RuntimeEvent::Progress {
                server: self.key.clone(),
                call,
                progress,
                total,
                message,
            });
        }
    }

    fn log(&self, log: Log<'_>) {
        self.events.transient(RuntimeEvent::Log {
            server: self.key.clone(),
            level: log.level.unwrap_or_else(|| "info".to_owned()),
            data: log.data.map(|data| Arc::from(data.to_owned())),
        });
    }
}
