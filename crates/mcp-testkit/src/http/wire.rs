//! The connection of a demanded request: written to by its answer, then given back or closed.

use std::io;
use std::panic::Location;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::connection::Connection;
use crate::failure::fail;

/// Dropped, it closes the connection.
#[derive(Debug)]
pub(super) struct Wire {
    pub(super) connection: Connection,
    pub(super) give_back: oneshot::Sender<Connection>,
    pub(super) deadline: Duration,
    /// The client may go away.
    pub(super) forgives: bool,
    pub(super) at: &'static Location<'static>,
}

impl Wire {
    /// Writes `bytes`, failing the test when the client takes none of them within the deadline or has gone.
    pub(super) async fn write(&mut self, bytes: &[u8]) {
        let written = async {
            self.connection.write_all(bytes).await?;
            self.connection.flush().await
        };
        match timeout(self.deadline, written).await {
            Ok(Ok(())) => {}
            Ok(Err(_)) | Err(_) if self.forgives => {}
            Ok(Err(error)) => fail(
                self.at,
                format_args!("the client closed the connection: {error}"),
            ),
            Err(_) => fail(
                self.at,
                format_args!(
                    "the client read nothing for {:?} while {} bytes were sent",
                    self.deadline,
                    bytes.len()
                ),
            ),
        }
    }

    /// Waits until the client closes the connection.
    pub(super) async fn expect_disconnect(&mut self) {
        let mut unexpected = Vec::new();
        match timeout(self.deadline, self.connection.read_to_end(&mut unexpected)).await {
            Ok(Err(error)) if error.kind() != io::ErrorKind::ConnectionReset => fail(
                self.at,
                format_args!("expected the client to disconnect, but reading failed: {error}"),
            ),
            Ok(_) if unexpected.is_empty() => {}
            Ok(_) => {
                let text = String::from_utf8_lossy(&unexpected);
                fail(
                    self.at,
                    format_args!("expected the client to disconnect, but it sent: {text}"),
                )
            }
            Err(_) => fail(
                self.at,
                format_args!(
                    "expected the client to disconnect within {:?}, it is still there",
                    self.deadline
                ),
            ),
        }
    }

    /// Lets the client send its next request on the connection.
    pub(super) fn give_back(self) {
        // Nobody takes it when the server was closed; then the connection closes too.
        let _ = self.give_back.send(self.connection);
    }
}
