//! The inbound side of a connection, with everything that comes out of it.

use crate::authority::CurrentPermissions;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use mcp_catalog::RefreshGate;
use mcp_keys::McpServerKey;
use tokio_util::sync::CancellationToken;

use crate::call::CallId;
use crate::connection::codec::Malformed;
use crate::connection::dispatch::Dispatch;
use crate::connection::elicitations::Interaction;
use crate::connection::notice::Notices;
use crate::connection::outbox::Outbox;
use crate::connection::pending::{Pending, Waiting};
use crate::connection::server_request::Inlet;
use crate::event::{EventSink, EventStream, RuntimeEvent};

/// Requests that wait for an answer, with the ids 1 to this.
const REQUESTS: usize = 8;

/// A connection that has sent some requests.
pub(super) struct Inbound {
    dispatch: Dispatch,
    waiting: Vec<Waiting>,
    calls: Vec<CallId>,
    events: EventStream,
    outbox: Arc<Outbox>,
    skipped: usize,
}

/// What a host and a server see of it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Effects {
    /// The answers, by the order of the requests.
    answers: Vec<String>,
    /// Progress and log.
    events: Vec<String>,
    /// What is owed to the server.
    replies: Vec<Vec<u8>>,
    /// Messages that were none.
    skipped: usize,
}

impl Inbound {
    pub(super) fn new() -> Self {
        let server = McpServerKey::host("fuzzed".parse().expect("a name"));
        let (sink, refresh) = (EventSink::default(), Arc::new(RefreshGate::new()));
        let events = sink.stream();
        let outbox = Arc::new(Outbox::default());
        let interaction = Interaction {
            permissions: CurrentPermissions::default(),
            elicitor: None,
            patience: Duration::ZERO,
            calls: Arc::default(),
        };
        let of_calls = interaction.calls.clone();
        let inlet = Inlet::new(&server, interaction, &outbox, &CancellationToken::new());
        let pending = Pending::new();
        let calls: Vec<_> = (0..REQUESTS).map(|_| CallId::next()).collect();
        let register = |call: &CallId| pending.register(Some(*call)).expect("the table is open");
        let waiting = calls.iter().map(register).collect();
        let notices = Notices::new(server.clone(), sink, refresh, of_calls);
        Self {
            dispatch: Dispatch::new(server, pending, notices, inlet),
            waiting,
            calls,
            events,
            outbox,
            skipped: 0,
        }
    }

    pub(super) fn message(&mut self, bytes: &[u8], own: Option<u64>) {
        self.skipped += usize::from(self.dispatch.message(bytes, own).is_err());
    }

    pub(super) fn too_long(&mut self, length: usize, id: Option<u64>) {
        let why = Malformed::TooLong { length, limit: 0 };
        self.skipped += usize::from(!self.dispatch.broken(id, why));
    }

    pub(super) fn effects(mut self) -> Effects {
        let calls = self.calls;
        let answered = |mut waiting: Waiting| match waiting.answer().now_or_never() {
            Some(answer) => format!("{answer:?}"),
            None => String::new(),
        };
        let events = std::iter::from_fn(|| self.events.next().now_or_never().flatten());
        let replies = std::iter::from_fn(|| self.outbox.pop().now_or_never().flatten());
        Effects {
            answers: self.waiting.into_iter().map(answered).collect(),
            events: events.map(|event| told(&event, &calls)).collect(),
            replies: replies.collect(),
            skipped: self.skipped,
        }
    }
}

/// An event, with the number of its call: ids are of the whole process.
fn told(event: &RuntimeEvent, calls: &[CallId]) -> String {
    match event {
        RuntimeEvent::Progress {
            call,
            progress,
            total,
            message,
            ..
        } => {
            let call = calls.iter().position(|known| known == call);
            format!("{call:?} {progress} {total:?} {message:?}")
        }
        other => format!("{other:?}"),
    }
}
