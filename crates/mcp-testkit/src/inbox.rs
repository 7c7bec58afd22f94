//! The way from the client to the scripted server: lines, read only when a test asks for one.

use std::fmt;
use std::time::Duration;

use tokio::io::{AsyncReadExt, DuplexStream};
use tokio::time::timeout;

use crate::message::Message;

/// What waiting for a message came to.
#[derive(Debug)]
pub(crate) enum Arrival {
    Message(Message),
    /// The client closed its output; bytes after the last line end come with it.
    End(Vec<u8>),
    Nothing,
}

/// Ends a failure message: `expected .., got ..`.
impl fmt::Display for Arrival {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Message(message) => write!(f, "got {message}"),
            Self::End(rest) if rest.is_empty() => write!(f, "but the client closed its output"),
            Self::End(rest) => {
                let rest = String::from_utf8_lossy(rest);
                write!(
                    f,
                    "but the client closed its output in the middle of a line: {rest}"
                )
            }
            Self::Nothing => write!(f, "got nothing"),
        }
    }
}

/// Reads lines. Nothing is read ahead of a demand beyond the chunk that a demanded line came in, so a
/// server that is asked for nothing also reads nothing.
#[derive(Debug)]
pub(crate) struct Inbox {
    stream: DuplexStream,
    unread: Vec<u8>,
    ended: bool,
}

impl Inbox {
    pub(crate) fn new(stream: DuplexStream) -> Self {
        Self {
            stream,
            unread: Vec::new(),
            ended: false,
        }
    }

    pub(crate) async fn next(&mut self, deadline: Duration) -> Arrival {
        timeout(deadline, self.read_message())
            .await
            .unwrap_or(Arrival::Nothing)
    }

    /// Cancel safe: whatever was read stays in `unread`.
    async fn read_message(&mut self) -> Arrival {
        let mut searched = 0;
        loop {
            if let Some(end) = self.unread[searched..]
                .iter()
                .position(|&byte| byte == b'\n')
            {
                let mut raw: Vec<u8> = self.unread.drain(..=searched + end).collect();
                raw.pop();
                return Arrival::Message(Message::from_line(raw));
            }
            searched = self.unread.len();
            // An in-memory stream fails only when the client has gone, which is its end.
            if self.ended || self.stream.read_buf(&mut self.unread).await.unwrap_or(0) == 0 {
                self.ended = true;
                return Arrival::End(std::mem::take(&mut self.unread));
            }
        }
    }
}
