//! The way from the scripted server to the client, shared by the handle and its responders.

use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncWriteExt, DuplexStream};
use tokio::sync::Mutex;
use tokio::time::timeout;

use crate::failure::fail;

/// Writes whole byte strings to the client, one after the other.
#[derive(Debug, Clone)]
pub(crate) struct Outbox {
    stream: Arc<Mutex<Option<DuplexStream>>>,
}

impl Outbox {
    pub(crate) fn new(stream: DuplexStream) -> Self {
        Self {
            stream: Arc::new(Mutex::new(Some(stream))),
        }
    }

    /// Writes `bytes`, failing the test when the client takes none of them for `deadline` or has gone.
    pub(crate) async fn send(&self, bytes: &[u8], deadline: Duration, at: &Location<'_>) {
        let mut stream = self.stream.lock().await;
        let Some(stream) = stream.as_mut() else {
            fail(
                at,
                "the scripted server closed its output and cannot send any more",
            );
        };
        match timeout(deadline, stream.write_all(bytes)).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => fail(at, format_args!("the client closed its input: {error}")),
            Err(_) => fail(
                at,
                format_args!(
                    "the client read nothing for {deadline:?} while {} bytes were sent",
                    bytes.len()
                ),
            ),
        }
    }

    /// Ends the stream: the client reads EOF.
    pub(crate) async fn close(&self) {
        *self.stream.lock().await = None;
    }
}

/// One message as a line.
pub(crate) fn line(message: &serde_json::Value) -> Vec<u8> {
    let mut line = message.to_string().into_bytes();
    line.push(b'\n');
    line
}
