//! What a server tells us without being asked.
//!
//! Notices are handled where they are read, in the order they came and before the answers that follow them: progress
//! never overtakes the call it belongs to.

use std::sync::Arc;

use mcp_catalog::RefreshGate;
use mcp_keys::McpServerKey;
use serde_json::value::RawValue;

use super::calls::Calls;
use crate::call::CallId;
use crate::event::{EventSink, RuntimeEvent};
use crate::object::Object;

/// Receives the notices of one connection.
#[derive(Debug, Clone)]
pub(crate) struct Notices {
    key: McpServerKey,
    events: EventSink,
    /// However many changes arrive, it owes one refresh more at most (C9).
    refresh: Arc<RefreshGate>,
    calls: Arc<Calls>,
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
        let params = params.map(Object::of).unwrap_or_default();
        match method {
            "notifications/tools/list_changed" => self.owe_refresh(),
            "notifications/progress" => self.progress(&params, call),
            "notifications/message" => self.log(&params),
            _ => tracing::trace!(server = %self.key, method, "notification without a listener"),
        }
    }

    fn progress(&self, params: &Object<'_>, call: impl FnOnce(&RawValue) -> Option<CallId>) {
        // Progress of a call that is over, or of none of ours, concerns nobody.
        if let Some(call) = params.get("progressToken").and_then(call) {
            self.calls.progressed(call);
            self.events.transient(RuntimeEvent::Progress {
                server: self.key.clone(),
                call,
                progress: params.read_as("progress").unwrap_or_default(),
                total: params.read_as("total"),
                message: params.text("message"),
            });
        }
    }

    fn log(&self, params: &Object<'_>) {
        self.events.transient(RuntimeEvent::Log {
            server: self.key.clone(),
            level: params.text("level").unwrap_or_else(|| "info".to_owned()),
            data: params.get("data").map(|data| Arc::from(data.to_owned())),
        });
    }
}
