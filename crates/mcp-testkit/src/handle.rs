//! The test's hold on an in-process server: demands what the client sends and says what it gets, step by step.

use std::fmt;
use std::panic::Location;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::DuplexStream;

use crate::failure::fail;
use crate::handshake::Handshake;
use crate::inbox::{Arrival, Inbox};
use crate::message::Message;
use crate::outbox::{Outbox, line};
use crate::responder::Responder;

/// How long an expectation waits unless [`ServerHandle::set_deadline`] says otherwise.
const DEADLINE: Duration = Duration::from_secs(10);

/// Scripts an in-process server. The server reads only when a test expects something, so a client that
/// sends more than the stream holds waits, as with a real server that is busy.
///
/// # Panics
///
/// Every `expect_*` takes the *next* message, and fails the test when it is another one than expected, when the client
/// closed, or when nothing came within the deadline (10 s of tokio's clock, which costs nothing when the clock is
/// paused). The message names the line that asked and shows what came instead.
#[derive(Debug)]
pub struct ServerHandle {
    inbox: Option<Inbox>,
    deaf: bool,
    outbox: Outbox,
    deadline: Duration,
    requests: u64,
}

impl ServerHandle {
    pub(crate) fn new(reads: DuplexStream, writes: DuplexStream) -> Self {
        Self {
            inbox: Some(Inbox::new(reads)),
            deaf: false,
            outbox: Outbox::new(writes),
            deadline: DEADLINE,
            requests: 0,
        }
    }

    /// Sets how long each later expectation waits.
    pub fn set_deadline(&mut self, deadline: Duration) {
        self.deadline = deadline;
    }

    /// The next message is a request with this method.
    #[track_caller]
    pub fn expect_request(&mut self, method: &str) -> impl Future<Output = Responder> {
        let at = Location::caller();
        async move {
            let wanted = format_args!("request {method:?}");
            let message = self
                .expect(at, wanted, |message| message.is_request(method))
                .await;
            self.responder(message, at)
        }
    }

    /// The next message is a request, whichever: for clients whose requests have no order.
    #[track_caller]
    pub fn expect_any_request(&mut self) -> impl Future<Output = Responder> {
        let at = Location::caller();
        async move {
            let message = self
                .expect(at, "a request", |message| {
                    message.method().is_some() && message.id().is_some()
                })
                .await;
            self.responder(message, at)
        }
    }

    /// The next message is a notification with this method; its parameters, `null` when it has none.
    #[track_caller]
    pub fn expect_notification(&mut self, method: &str) -> impl Future<Output = Value> {
        let at = Location::caller();
        async move {
            let wanted = format_args!("notification {method:?}");
            self.expect(at, wanted, |message| message.is_notification(method))
                .await
                .params()
                .clone()
        }
    }

    /// The next message answers the server's own request `id`; the whole response.
    #[track_caller]
    pub fn expect_response(&mut self, id: &Value) -> impl Future<Output = Value> {
        let at = Location::caller();
        async move {
            let wanted = format_args!("response to {id}");
            self.expect(at, wanted, |message| message.is_response_to(id))
                .await
                .into_value()
        }
    }

    /// The client sends nothing for `window`, and does not close either.
    #[track_caller]
    pub fn expect_nothing(&mut self, window: Duration) -> impl Future<Output = ()> {
        let at = Location::caller();
        async move {
            match self.reading(at).next(window).await {
                Arrival::Nothing => {}
                arrival => fail(
                    at,
                    format_args!("expected nothing for {window:?}, {arrival}"),
                ),
            }
        }
    }

    /// The client closes its output, with nothing left unread before.
    #[track_caller]
    pub fn expect_end(&mut self) -> impl Future<Output = ()> {
        let at = Location::caller();
        async move {
            let deadline = self.deadline;
            match self.reading(at).next(deadline).await {
                Arrival::End(rest) if rest.is_empty() => {}
                arrival => fail(
                    at,
                    format_args!("expected the end within {deadline:?}, {arrival}"),
                ),
            }
        }
    }

    /// Plays the legacy handshake: answers `initialize`, awaits `notifications/initialized`. The parameters of `initialize`.
    #[track_caller]
    pub fn initialize(&mut self, handshake: Handshake) -> impl Future<Output = Value> {
        let at = Location::caller();
        async move {
            let request = self
                .expect(at, "request \"initialize\"", |message| {
                    message.is_request("initialize")
                })
                .await;
            let params = request.params().clone();
            self.responder(request, at)
                .result(handshake.result(&params))
                .await;
            let initialized = "notifications/initialized";
            self.expect(
                at,
                format_args!("notification {initialized:?}"),
                |message| message.is_notification(initialized),
            )
            .await;
            params
        }
    }

    /// Sends bytes as they are: noise, half a line, a BOM, invalid UTF-8. No line end is added.
    #[track_caller]
    pub fn send_raw(&self, bytes: impl AsRef<[u8]>) -> impl Future<Output = ()> {
        self.deliver(bytes.as_ref().to_vec(), Location::caller())
    }

    /// Sends a message as one line.
    #[track_caller]
    pub fn send(&self, message: &Value) -> impl Future<Output = ()> {
        self.deliver(line(message), Location::caller())
    }

    /// Sends a notification; `params` is left out when `null`.
    #[track_caller]
    pub fn notify(&self, method: &str, params: Value) -> impl Future<Output = ()> {
        self.deliver(line(&envelope(method, params)), Location::caller())
    }

    /// Sends a request of the server's own; its id, for [`expect_response`](Self::expect_response).
    #[track_caller]
    pub fn request(&mut self, method: &str, params: Value) -> impl Future<Output = Value> {
        self.requests += 1;
        let id = json!(format!("server-{}", self.requests));
        let mut message = envelope(method, params);
        message["id"] = id.clone();
        let delivered = self.deliver(line(&message), Location::caller());
        async move {
            delivered.await;
            id
        }
    }

    /// Reads nothing any more, but keeps the stream open: the client's writes wait once the stream is full. Any later
    /// expectation of a message fails.
    pub fn stop_reading(&mut self) {
        self.deaf = true;
    }

    /// Closes the server's input: the client's writes fail from now on, while the server may still send.
    pub fn close_input(&mut self) {
        self.inbox = None;
    }

    /// Closes the server's output: the client reads EOF, while the server still reads.
    pub async fn close_output(&self) {
        self.outbox.close().await;
    }

    /// Closes both directions, as a server that exits does. Responders that are left can no longer answer.
    pub async fn close(mut self) {
        self.close_input();
        self.close_output().await;
    }

    async fn expect(
        &mut self,
        at: &Location<'_>,
        wanted: impl fmt::Display,
        fits: impl Fn(&Message) -> bool,
    ) -> Message {
        let deadline = self.deadline;
        match self.reading(at).next(deadline).await {
            Arrival::Message(message) if fits(&message) => message,
            arrival => fail(
                at,
                format_args!("expected {wanted} within {deadline:?}, {arrival}"),
            ),
        }
    }

    fn reading(&mut self, at: &Location<'_>) -> &mut Inbox {
        match &mut self.inbox {
            Some(inbox) if !self.deaf => inbox,
            Some(_) => fail(
                at,
                "the scripted server stopped reading, so no message can be expected",
            ),
            None => fail(
                at,
                "the scripted server closed its input, so no message can be expected",
            ),
        }
    }

    fn deliver(
        &self,
        bytes: Vec<u8>,
        at: &'static Location<'static>,
    ) -> impl Future<Output = ()> + use<> {
        let (outbox, deadline) = (self.outbox.clone(), self.deadline);
        async move { outbox.send(&bytes, deadline, at).await }
    }

    fn responder(&self, request: Message, at: &'static Location<'static>) -> Responder {
        Responder::new(request, self.outbox.clone(), self.deadline, at)
    }
}

/// A message without an id.
fn envelope(method: &str, params: Value) -> Value {
    let mut message = json!({"jsonrpc": "2.0", "method": method});
    if !params.is_null() {
        message["params"] = params;
    }
    message
}
