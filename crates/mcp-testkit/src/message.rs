//! One message as it came from the client, and its description for failure messages.

use std::fmt;

use serde_json::Value;

/// Longer messages are cut in failure messages.
const SHOWN_BYTES: usize = 400;

/// One line from the client.
#[derive(Debug, Clone)]
pub(crate) struct Message {
    raw: Vec<u8>,
    value: Value,
}

impl Message {
    /// Reads a line; one that is not JSON becomes a message with the value `null`, which no expectation matches.
    pub(crate) fn from_line(raw: Vec<u8>) -> Self {
        let value = serde_json::from_slice(&raw).unwrap_or(Value::Null);
        Self { raw, value }
    }

    pub(crate) fn raw(&self) -> &[u8] {
        &self.raw
    }

    pub(crate) fn value(&self) -> &Value {
        &self.value
    }

    pub(crate) fn into_value(self) -> Value {
        self.value
    }

    pub(crate) fn method(&self) -> Option<&str> {
        self.value.get("method").and_then(Value::as_str)
    }

    pub(crate) fn id(&self) -> Option<&Value> {
        self.value.get("id")
    }

    /// The parameters; `null` when there are none.
    pub(crate) fn params(&self) -> &Value {
        self.value.get("params").unwrap_or(&Value::Null)
    }

    pub(crate) fn is_request(&self, method: &str) -> bool {
        self.method() == Some(method) && self.id().is_some()
    }

    pub(crate) fn is_notification(&self, method: &str) -> bool {
        self.method() == Some(method) && self.id().is_none()
    }

    pub(crate) fn is_response_to(&self, id: &Value) -> bool {
        self.method().is_none() && self.id() == Some(id)
    }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.method(), self.id()) {
            (Some(method), Some(_)) => write!(f, "request {method:?}: ")?,
            (Some(method), None) => write!(f, "notification {method:?}: ")?,
            (None, Some(id)) => write!(f, "response to {id}: ")?,
            (None, None) => write!(f, "a line that is no JSON-RPC message: ")?,
        }
        let text = String::from_utf8_lossy(&self.raw);
        match text.char_indices().nth(SHOWN_BYTES) {
            Some((end, _)) => write!(f, "{}... ({} bytes)", &text[..end], self.raw.len()),
            None => write!(f, "{text}"),
        }
    }
}
