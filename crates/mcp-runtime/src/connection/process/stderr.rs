//! What a server says on its standard error: never inherited, kept as a bounded tail, traced line by line (R6).

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mcp_keys::McpServerKey;
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};
use tokio::sync::watch;
use tokio::time::timeout;

/// Bytes of the tail.
const TAIL: usize = 8 * 1024;
/// The longest piece traced as one line.
const LONGEST_LINE: usize = 4 * 1024;
/// How long to wait for the last words of a process that has ended. Its descendants may keep the pipe open.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// The end of a process's standard error, as far as it was read.
#[derive(Debug, Clone)]
pub(crate) struct StderrTail {
    bytes: Arc<Mutex<VecDeque<u8>>>,
    ended: watch::Receiver<bool>,
}

/// Fills a tail once there is a stream.
#[derive(Debug)]
pub(crate) struct StderrReader {
    tail: StderrTail,
    server: McpServerKey,
    report: watch::Sender<bool>,
}

impl StderrReader {
    /// Reads `stream` to its end in a task of its own.
    pub(crate) fn follow(self, stream: impl AsyncRead + Send + Unpin + 'static) {
        tokio::spawn(async move {
            self.tail.read(&self.server, stream).await;
            self.report.send_replace(true);
        });
    }
}

impl StderrTail {
    /// An empty tail, and what fills it. It has ended when that is gone.
    pub(crate) fn new(server: &McpServerKey) -> (Self, StderrReader) {
        let (report, ended) = watch::channel(false);
        let tail = Self {
            bytes: Arc::default(),
            ended,
        };
        let reader = StderrReader {
            tail: tail.clone(),
            server: server.clone(),
            report,
        };
        (tail, reader)
    }

    async fn read(&self, server: &McpServerKey, stream: impl AsyncRead + Unpin) {
        let mut stream = BufReader::new(stream);
        let mut line = Vec::new();
        loop {
            let (used, whole) = match stream.fill_buf().await {
                // A stream that fails has ended.
                Ok([]) | Err(_) => break,
                Ok(bytes) => {
                    let end = memchr::memchr(b'\n', bytes);
                    let used = end.map_or(bytes.len(), |end| end + 1);
                    line.extend_from_slice(&bytes[..used]);
                    self.keep(&bytes[..used]);
                    (used, end.is_some())
                }
            };
            stream.consume(used);
            if whole || line.len() >= LONGEST_LINE {
                trace(server, &line);
                line.clear();
            }
        }
        if !line.is_empty() {
            trace(server, &line);
        }
    }

    fn keep(&self, bytes: &[u8]) {
        let mut tail = self.tail();
        tail.extend(bytes);
        let excess = tail.len().saturating_sub(TAIL);
        tail.drain(..excess);
    }

    /// The tail as text, from its first whole line when the beginning is cut off.
    pub(crate) fn text(&self) -> String {
        let mut tail = self.tail();
        let cut = tail.len() == TAIL;
        let bytes = tail.make_contiguous();
        // A last line that is longer than the tail is shown as far as there is of it.
        let whole = memchr::memchr(b'\n', bytes).map_or(0, |end| end + 1);
        let from = if cut && whole < bytes.len() { whole } else { 0 };
        String::from_utf8_lossy(&bytes[from..])
            .trim_end()
            .to_owned()
    }

    /// The tail once the stream has ended, or what there is after a short wait.
    pub(crate) async fn last_words(&self) -> String {
        let mut ended = self.ended.clone();
        // Either way the text is what there is.
        let _ = timeout(LAST_WORDS, ended.wait_for(|ended| *ended)).await;
        self.text()
    }

    fn tail(&self) -> MutexGuard<'_, VecDeque<u8>> {
        // Bytes are valid in any state.
        self.bytes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn trace(server: &McpServerKey, line: &[u8]) {
    tracing::debug!(target: "mcp_runtime::stderr", %server, line = %String::from_utf8_lossy(line).trim_end());
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn tail_of(text: Vec<u8>) -> String {
        let (tail, reader) = StderrTail::new(&McpServerKey::host("s".parse().unwrap()));
        reader.follow(std::io::Cursor::new(text));
        tail.last_words().await
    }

    #[tokio::test(flavor = "current_thread", start_paused = true)]
    async fn the_tail_is_the_end_and_begins_with_a_whole_line() {
        let mut text = Vec::new();
        for number in 0..2_000 {
            text.extend_from_slice(format!("line {number}\n").as_bytes());
        }
        let tail = tail_of(text).await;
        assert!(tail.len() <= TAIL);
        assert!(tail.starts_with("line "), "{}", &tail[..20]);
        assert!(tail.ends_with("line 1999"));
    }

    #[tokio::test(flavor = "current_thread", start_paused = true)]
    async fn bytes_that_are_not_text_and_endless_lines_do_no_harm() {
        assert_eq!(tail_of(b"caf\xe9".to_vec()).await, "caf\u{fffd}");
        assert_eq!(tail_of(vec![b'x'; 100_000]).await.len(), TAIL);
        let ended = [vec![b'x'; 100_000], vec![b'\n']].concat();
        assert_eq!(tail_of(ended).await.len(), TAIL - 1);
    }
}
