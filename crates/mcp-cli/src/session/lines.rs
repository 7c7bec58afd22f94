//! Lines in, lines out. Both streams have a thread of their own, so that a reader or writer that is stuck holds no
//! executor and no exit.

use std::borrow::Cow;
use std::io::{self, BufRead, ErrorKind, Write};

use serde::Serialize;
use serde_json::value::RawValue;
use tokio::sync::{mpsc, oneshot};

use super::answer::Success;
use crate::report::ErrorReport;

/// Lines read ahead, and lines waiting to be written.
const AHEAD: usize = 256;

/// Where answers and events go. When the last clone is gone, the writer ends.
#[derive(Debug, Clone)]
pub(super) struct Output {
    lines: mpsc::Sender<Vec<u8>>,
}

/// The end of the writer.
#[derive(Debug)]
pub(super) struct Written(oneshot::Receiver<io::Result<()>>);

impl Written {
    /// Waits until everything was written, or could not be. A reader that has gone is no error: it wants no more.
    pub(super) async fn finished(self) -> io::Result<()> {
        match self.0.await {
            Ok(Err(error)) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
            Ok(written) => written,
            // A writer that panicked has written what it could.
            Err(_) => Ok(()),
        }
    }
}

/// A line of stdin.
#[derive(Debug)]
pub(super) struct Line {
    /// What is no text in it was replaced.
    pub(super) text: String,
    /// Nothing was.
    pub(super) is_whole: bool,
}

impl Line {
    fn of(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        Self {
            is_whole: matches!(text, Cow::Borrowed(_)),
            text: text.into_owned(),
        }
    }
}

/// The lines of stdin; the channel closes at its end.
pub(super) fn input() -> mpsc::Receiver<Line> {
    let (sender, lines) = mpsc::channel(AHEAD);
    std::thread::spawn(move || {
        let mut stdin = io::stdin().lock();
        let mut line = Vec::new();
        // A stream that fails has ended.
        while matches!(stdin.read_until(b'\n', &mut line), Ok(1..)) {
            let read = Line::of(&line);
            line.clear();
            if sender.blocking_send(read).is_err() {
                break;
            }
        }
    });
    lines
}

/// The writer of stdout.
pub(super) fn output() -> (Output, Written) {
    let (sender, mut lines) = mpsc::channel::<Vec<u8>>(AHEAD);
    let (done, written) = oneshot::channel();
    std::thread::spawn(move || {
        let mut stdout = io::stdout().lock();
        let mut result = Ok(());
        while let Some(line) = lines.blocking_recv() {
            result = stdout.write_all(&line).and_then(|()| stdout.flush());
            if result.is_err() {
                break;
            }
        }
        // Whoever sends sees that the queue is closed. Nobody may be waiting for the end.
        drop(lines);
        let _ = done.send(result);
    });
    (Output { lines: sender }, Written(written))
}

impl Output {
    /// Resolves when nothing can be written any more.
    pub(super) async fn closed(&self) {
        self.lines.closed().await;
    }

    /// Writes the answer to a request.
    pub(super) async fn answer(
        &self,
        id: Option<&RawValue>,
        result: &Result<Success, ErrorReport>,
    ) {
        #[derive(Serialize)]
        struct Answered<'a> {
            id: Option<&'a RawValue>,
            ok: bool,
            #[serde(flatten)]
            success: &'a Success,
        }
        #[derive(Serialize)]
        struct Failed<'a> {
            id: Option<&'a RawValue>,
            ok: bool,
            error: &'a ErrorReport,
        }
        match result {
            Ok(success) => {
                self.line(&Answered {
                    id,
                    ok: true,
                    success,
                })
                .await;
            }
            Err(error) => {
                self.line(&Failed {
                    id,
                    ok: false,
                    error,
                })
                .await;
            }
        }
    }

    /// Writes one message.
    pub(super) async fn line(&self, message: &impl Serialize) {
        let mut line = match serde_json::to_vec(message) {
            Ok(line) => line,
            Err(error) => {
                tracing::error!(%error, "a message that cannot be written");
                return;
            }
        };
        // Raw JSON may span lines; a line end in it can only be white space.
        for byte in &mut line {
            if matches!(byte, b'\n' | b'\r') {
                *byte = b' ';
            }
        }
        line.push(b'\n');
        // Without a writer there is nobody to tell.
        let _ = self.lines.send(line).await;
    }
}
