//! One HTTP response, or the head of one.

use serde_json::Value;

/// A status, headers and a body.
#[derive(Debug, Clone)]
#[must_use = "a response does nothing until an exchange sends it"]
pub struct HttpResponse {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl HttpResponse {
    /// An empty response with this status.
    pub fn new(status: u16) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: Vec::new(),
        }
    }

    /// Adds a header, as it is.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Sets the body and says what it is.
    pub fn body(mut self, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self.header("Content-Type", content_type)
    }

    /// Sets the body and does not say what it is.
    pub fn untyped_body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    /// Sets a JSON body.
    pub fn json(self, body: &Value) -> Self {
        self.body("application/json", body.to_string())
    }

    /// The whole response.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        // No response to 204 may tell a length, and nobody waits for its body.
        let length = if self.status == 204 {
            String::new()
        } else {
            format!("Content-Length: {}\r\n", self.body.len())
        };
        let mut bytes = self.head(&length);
        bytes.extend_from_slice(&self.body);
        bytes
    }

    /// The head of a response whose body comes in chunks: events, unless the content type is set.
    pub(super) fn to_stream_head(&self) -> Vec<u8> {
        let is_typed = self
            .headers
            .iter()
            .any(|(name, _)| name.eq_ignore_ascii_case("content-type"));
        let content_type = if is_typed {
            ""
        } else {
            "Content-Type: text/event-stream\r\n"
        };
        self.head(&format!("{content_type}Transfer-Encoding: chunked\r\n"))
    }

    fn head(&self, framing: &str) -> Vec<u8> {
        let headers: String = self
            .headers
            .iter()
            .map(|(name, value)| format!("{name}: {value}\r\n"))
            .collect();
        format!("HTTP/1.1 {} \r\n{headers}{framing}\r\n", self.status).into_bytes()
    }
}
