//! A server that is a child process and speaks lines on its standard streams.
//!
//! Our requests have their own ids and their own table, and their answers are taken from the line as it came (W1). What
//! the server asks is answered where it is read, from the first line on: a server that pings before it answers
//! `initialize` is answered.
//!
//! Three tasks: one reads, one writes, one supervises the process. The reader never waits for any of the others, so
//! nothing the host or the server does can keep an answer from its caller.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use mcp_keys::McpServerKey;
use serde::Serialize;
use serde_json::value::RawValue;
use tokio::io::AsyncWriteExt;
use tokio::process::{ChildStdin, ChildStdout};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::codec::{self, Malformed};
use super::disconnect::Disconnect;
use super::dispatch::Dispatch;
use super::elicitations::Interaction;
use super::in_flight::InFlight;
use super::line::{Line, LineBuffer};
use super::notice::Notices;
use super::outbox::{Outbox, Refused};
use super::pending::Pending;
use super::process::{Exit, Process, Streams};
use super::request::{RequestError, RequestErrorKind};
use super::server_request::Inlet;
use crate::call::CallId;
use crate::deadline::Deadline;

/// The longest line accepted, in bytes (R7).
const LINE_LIMIT: usize = 16 * 1024 * 1024;
/// How long the output of a process that has ended may still flow. Descendants may hold it open for ever.
const OUTPUT_GRACE: Duration = Duration::from_millis(200);

/// The way to one child process.
#[derive(Debug)]
pub(crate) struct StdioLink {
    pending: Arc<Pending>,
    outbox: Arc<Outbox>,
    process: Process,
    closed: CancellationToken,
}

impl StdioLink {
    /// Starts everything that talks to the process. Nothing has been sent yet.
    pub(crate) fn start(
        key: &McpServerKey,
        Streams { stdin, stdout }: Streams,
        process: Process,
        notices: Notices,
        interaction: Interaction,
    ) -> Self {
        let pending = Pending::new();
        let outbox = Arc::new(Outbox::default());
        let closed = CancellationToken::new();
        let inlet = Inlet::new(key, interaction, &outbox, &closed);
        let unread = CancellationToken::new();
        tokio::spawn(write(
            stdin,
            outbox.clone(),
            process.closing(),
            unread.clone(),
        ));
        let reader = Reader {
            key: key.clone(),
            dispatch: Dispatch::new(key.clone(), pending.clone(), notices, inlet),
            pending: pending.clone(),
            outbox: outbox.clone(),
            skipped: 0,
        };
        tokio::spawn(live(
            reader,
            stdout,
            process.clone(),
            closed.clone(),
            unread,
        ));
        Self {
            pending,
            outbox,
            process,
            closed,
        }
    }

    /// Sends a request and waits for its result until the deadline.
    pub(crate) async fn request<P: Serialize>(
        &self,
        method: &'static str,
        params: impl FnOnce(u64) -> P,
        call: Option<CallId>,
        deadline: &Deadline,
    ) -> Result<Box<RawValue>, RequestError> {
        if deadline.has_passed() {
            return Err(RequestError::new(method, deadline.elapsed()));
        }
        let mut request = self.begin(method, params, call)?;
        let answer = deadline.bound(request.result()).await;
        answer.map_err(|elapsed| RequestError::new(method, elapsed))?
    }

    /// Sends a request; its result can be waited for as long as somebody likes.
    pub(crate) fn begin<P: Serialize>(
        &self,
        method: &'static str,
        params: impl FnOnce(u64) -> P,
        call: Option<CallId>,
    ) -> Result<InFlight, RequestError> {
        let fail = |kind: RequestErrorKind| RequestError::new(method, kind);
        let waiting = self.pending.register(call);
        let waiting = waiting.map_err(|why| fail(RequestErrorKind::Closed(why)))?;
        let id = waiting.id();
        let line = codec::encode_request(id, method, Some(params(id)));
        let line = line.map_err(|error| fail(RequestErrorKind::Encode(error)))?;
        let queued = self.outbox.push_request(line);
        queued.map_err(|refused| fail(self.refusal(refused)))?;
        Ok(InFlight::new(method, waiting, Some(self.outbox.clone())))
    }

    /// Sends a notification; what cannot be queued is lost with its connection.
    pub(crate) fn notify(&self, method: &str) -> Result<(), RequestError> {
        let line = codec::encode_notification::<()>(method, None)
            .map_err(|error| RequestError::new(method, RequestErrorKind::Encode(error)))?;
        self.outbox
            .push_owed(line)
            .map_err(|refused| RequestError::new(method, self.refusal(refused)))
    }

    pub(crate) fn process(&self) -> &Process {
        &self.process
    }

    /// Resolves when the connection is over.
    pub(crate) async fn closed(&self) -> Arc<Disconnect> {
        self.closed.cancelled().await;
        self.pending
            .closed()
            .unwrap_or_else(|| Arc::new(Disconnect::local()))
    }

    fn refusal(&self, refused: Refused) -> RequestErrorKind {
        // A closed outbox is explained by the reason the connection ended, when that is known already.
        match (refused, self.pending.closed()) {
            (Refused::Closed, Some(why)) => RequestErrorKind::Closed(why),
            (refused, _) => refused.into(),
        }
    }
}

impl Drop for StdioLink {
    fn drop(&mut self) {
        self.pending.close(&Arc::new(Disconnect::local()));
        self.outbox.close();
        self.closed.cancel();
        self.process.stop();
    }
}

/// Reads lines and hands each to where it belongs.
#[derive(Debug)]
struct Reader {
    key: McpServerKey,
    dispatch: Dispatch,
    pending: Arc<Pending>,
    outbox: Arc<Outbox>,
    skipped: u64,
}

impl Reader {
    async fn read(&mut self, mut stdout: ChildStdout) {
        let mut lines = LineBuffer::new(LINE_LIMIT);
        // An output that fails has ended.
        while matches!(lines.fill(&mut stdout).await, Ok(1..)) {
            while let Some(line) = lines.next_line() {
                self.line(line);
            }
        }
        // A last line without its end is a message when it is whole. One that is cut short fails nobody: why the stream has
        // ended says more.
        if let Some(Line::Whole(bytes)) = lines.finish_stream()
            && codec::decode(bytes).is_ok()
        {
            self.line(Line::Whole(bytes));
        }
    }

    /// A line that is no message fails the request it answers, or is noise, counted and told once (R7).
    fn line(&mut self, line: Line<'_>) {
        let heard = match line {
            Line::Whole(bytes) => self.dispatch.message(bytes, None).is_ok(),
            Line::TooLong { length, id } => {
                let limit = LINE_LIMIT;
                self.dispatch
                    .broken(id, Malformed::TooLong { length, limit })
            }
        };
        if heard {
            return;
        }
        self.skipped += 1;
        if self.skipped == 1 {
            tracing::info!(
                server = %self.key,
                "the server writes lines to its standard output that are no JSON-RPC messages; they are skipped"
            );
        }
    }
}

/// Reads until the connection is over, whatever ends it, and then tells everyone who waits.
async fn live(
    mut reader: Reader,
    stdout: ChildStdout,
    process: Process,
    closed: CancellationToken,
    unread: CancellationToken,
) {
    let stopping = process.stopping();
    let (ended, exited) = tokio::select! {
        // What was written is read before its writer's end counts, however late this task has its turn.
        biased;
        () = reader.read(stdout) => (Ended::Output, exit_soon(&process).await),
        exit = drained(&process) => (Ended::Output, Some(exit)),
        () = drained_unread(&unread) => (Ended::Input, exit_soon(&process).await),
        () = stopping.cancelled() => (Ended::Output, None),
    };
    let why = match (exited, ended) {
        _ if stopping.is_cancelled() => Disconnect::local(),
        (Some(exit), _) => Disconnect::exited(exit, process.stderr().last_words().await),
        (None, Ended::Output) => Disconnect::output_closed(process.stderr().text()),
        (None, Ended::Input) => Disconnect::input_closed(process.stderr().text()),
    };
    reader.pending.close(&Arc::new(why));
    reader.outbox.close();
    closed.cancel();
    // Whatever is left of the tree serves nobody.
    process.stop();
}

/// Which of a process's streams ended first.
enum Ended {
    Output,
    Input,
}

/// The end of a process of which a stream has ended: most likely it is near.
async fn exit_soon(process: &Process) -> Option<Exit> {
    timeout(OUTPUT_GRACE, process.leader_exited()).await.ok()
}

/// The end of the process, once what it wrote last had time to arrive.
async fn drained(process: &Process) -> Exit {
    let exit = process.leader_exited().await;
    tokio::time::sleep(OUTPUT_GRACE).await;
    exit
}

/// The end of the server's reading, once what it wrote last had time to arrive.
async fn drained_unread(unread: &CancellationToken) {
    unread.cancelled().await;
    tokio::time::sleep(OUTPUT_GRACE).await;
}

/// Writes what is queued, and keeps the input open until it is to be closed. A child that does not read holds this task and
/// nobody else.
async fn write(
    mut stdin: ChildStdin,
    outbox: Arc<Outbox>,
    closing: CancellationToken,
    unread: CancellationToken,
) {
    let writing = async {
        while let Some(line) = outbox.pop().await {
            if let Err(error) = stdin.write_all(&line).await {
                tracing::debug!(%error, "the server no longer reads its standard input");
                outbox.close();
                unread.cancel();
                break;
            }
        }
        pending::<()>().await;
    };
    tokio::select! {
        biased;
        () = closing.cancelled() => {}
        () = writing => {}
    }
}
