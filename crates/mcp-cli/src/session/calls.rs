//! Which request each call of a session belongs to, for its progress and its questions.

use std::sync::Arc;

use dashmap::DashMap;
use mcp_runtime::CallId;

/// The calls of one runtime that are under way.
#[derive(Debug, Clone, Default)]
pub(super) struct Calls(Arc<DashMap<CallId, String>>);

/// Forgets whose call it was, when dropped.
#[derive(Debug)]
pub(super) struct Attributed {
    calls: Calls,
    call: CallId,
}

impl Calls {
    /// The call is of `request`, the JSON text of its id.
    pub(super) fn attribute(&self, call: CallId, request: &str) -> Attributed {
        self.0.insert(call, request.to_owned());
        Attributed {
            calls: self.clone(),
            call,
        }
    }

    /// The request of a call, as the JSON text of its id.
    pub(super) fn request(&self, call: CallId) -> Option<String> {
        self.0.get(&call).map(|request| request.clone())
    }
}

impl Drop for Attributed {
    fn drop(&mut self) {
        self.calls.0.remove(&self.call);
    }
}
