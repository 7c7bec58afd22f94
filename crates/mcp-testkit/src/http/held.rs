//! Connections a test keeps open after the beginning of an answer, or before any.

use serde_json::Value;

use super::wire::Wire;

/// A connection that gets no proper answer. Dropping it closes the connection.
#[derive(Debug)]
#[must_use = "dropping it closes the connection"]
pub struct HeldConnection {
    pub(super) wire: Wire,
}

impl HeldConnection {
    /// Writes bytes as they are.
    ///
    /// # Panics
    ///
    /// When the client has gone.
    pub async fn send_raw(&mut self, bytes: impl AsRef<[u8]>) {
        self.wire.write(bytes.as_ref()).await;
    }

    /// Waits until the client closes the connection.
    ///
    /// # Panics
    ///
    /// When it does not within the deadline.
    pub async fn expect_disconnect(mut self) {
        self.wire.expect_disconnect().await;
    }
}

/// A response whose body is under way: server-sent events, or any other pieces. Dropping it cuts the connection in the
/// middle of the body.
///
/// # Panics
///
/// Each piece fails the test when the client has gone.
#[derive(Debug)]
#[must_use = "dropping it cuts the connection"]
pub struct EventStream {
    pub(super) wire: Wire,
}

impl EventStream {
    /// Sends one message as an event.
    pub async fn event(&mut self, message: &Value) {
        self.send_raw(format!("event: message\ndata: {message}\n\n"))
            .await;
    }

    /// Sends one message as an event with an id, from which a client can resume.
    pub async fn event_with_id(&mut self, id: &str, message: &Value) {
        self.send_raw(format!("id: {id}\nevent: message\ndata: {message}\n\n"))
            .await;
    }

    /// Sends a comment, which means nothing.
    pub async fn keep_alive(&mut self) {
        self.send_raw(": keep-alive\n\n").await;
    }

    /// Sends these bytes as one chunk of the body.
    pub async fn send_raw(&mut self, bytes: impl AsRef<[u8]>) {
        let bytes = bytes.as_ref();
        // A chunk of no bytes would end the body.
        if !bytes.is_empty() {
            let mut chunk = format!("{:x}\r\n", bytes.len()).into_bytes();
            chunk.extend_from_slice(bytes);
            chunk.extend_from_slice(b"\r\n");
            self.wire.write(&chunk).await;
        }
    }

    /// Ends the body properly; the connection waits for the client's next request.
    pub async fn finish(mut self) {
        self.wire.write(b"0\r\n\r\n").await;
        self.wire.give_back();
    }

    /// Waits until the client closes the connection.
    pub async fn expect_disconnect(mut self) {
        self.wire.expect_disconnect().await;
    }
}
