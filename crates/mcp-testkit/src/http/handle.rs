//! The test's hold on an HTTP server: demands requests and hands them out to be answered.

use std::fmt;
use std::net::SocketAddr;
use std::panic::Location;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};

use super::connection::Arrival;
use super::exchange::Exchange;
use super::response::HttpResponse;
use crate::failure::fail;
use crate::handshake::Handshake;

/// How long an expectation waits unless [`HttpHandle::set_deadline`] says otherwise.
const DEADLINE: Duration = Duration::from_secs(10);

/// Scripts an HTTP server. Dropping it closes the listener and every connection that no exchange holds.
///
/// # Panics
///
/// A client's connections have no order among each other, so an expectation takes the *first request that fits*, and
/// others wait until they are expected. It fails the test when nothing that fits came within the deadline (10 s of
/// real time); the message names the line that asked and shows what is waiting instead.
#[derive(Debug)]
pub struct HttpHandle {
    arrivals: mpsc::Receiver<Arrival>,
    waiting: Vec<Arrival>,
    tasks: JoinSet<()>,
    address: SocketAddr,
    deadline: Duration,
}

impl HttpHandle {
    pub(super) fn new(
        address: SocketAddr,
        arrivals: mpsc::Receiver<Arrival>,
        tasks: JoinSet<()>,
    ) -> Self {
        Self {
            arrivals,
            waiting: Vec::new(),
            tasks,
            address,
            deadline: DEADLINE,
        }
    }

    /// Where the server listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Sets how long each later expectation waits.
    pub fn set_deadline(&mut self, deadline: Duration) {
        self.deadline = deadline;
    }

    /// A POST whose body is a JSON-RPC request or notification with this method.
    #[track_caller]
    pub fn expect_post(&mut self, method: &str) -> impl Future<Output = Exchange> {
        let at = Location::caller();
        async move { self.post(method, at).await }
    }

    /// A POST whose body is a response of the client.
    #[track_caller]
    pub fn expect_post_of_response(&mut self) -> impl Future<Output = Exchange> {
        let at = Location::caller();
        self.expect(at, "POST of a response".to_owned(), |arrival| {
            arrival.request.verb() == "POST" && arrival.request.message().method().is_none()
        })
    }

    /// A GET, to whatever path.
    #[track_caller]
    pub fn expect_get(&mut self) -> impl Future<Output = Exchange> {
        let at = Location::caller();
        self.expect(at, "GET".to_owned(), |arrival| {
            arrival.request.verb() == "GET"
        })
    }

    /// A DELETE, to whatever path.
    #[track_caller]
    pub fn expect_delete(&mut self) -> impl Future<Output = Exchange> {
        let at = Location::caller();
        self.expect(at, "DELETE".to_owned(), |arrival| {
            arrival.request.verb() == "DELETE"
        })
    }

    /// The next request, whatever it is: for a server that answers by itself.
    #[track_caller]
    pub fn expect_any(&mut self) -> impl Future<Output = Exchange> {
        self.expect(Location::caller(), "a request".to_owned(), |_| true)
    }

    /// What has come and was not expected yet, in order: the method of a JSON-RPC message, or else the verb.
    pub fn waiting(&mut self) -> Vec<String> {
        while let Ok(arrival) = self.arrivals.try_recv() {
            self.waiting.push(arrival);
        }
        let requests = self.waiting.iter().map(|arrival| &arrival.request);
        let name = |method: Option<&str>, verb: &str| method.unwrap_or(verb).to_owned();
        requests
            .map(|request| name(request.message().method(), request.verb()))
            .collect()
    }

    /// No request is waiting, and none comes for `window`.
    #[track_caller]
    pub fn expect_nothing(&mut self, window: Duration) -> impl Future<Output = ()> {
        let at = Location::caller();
        async move {
            if self.waiting.is_empty() {
                self.waiting.extend(
                    timeout_at(Instant::now() + window, self.arrivals.recv())
                        .await
                        .ok()
                        .flatten(),
                );
            }
            if !self.waiting.is_empty() {
                fail(
                    at,
                    format_args!(
                        "expected nothing for {window:?}, {}",
                        Waiting(&self.waiting)
                    ),
                );
            }
        }
    }

    /// Plays the legacy handshake: answers `initialize`, accepts `notifications/initialized`, and gives the session an id
    /// when there is one. The parameters of `initialize`.
    #[track_caller]
    pub fn initialize(
        &mut self,
        handshake: Handshake,
        session: Option<&str>,
    ) -> impl Future<Output = Value> {
        let at = Location::caller();
        async move {
            let request = self.post("initialize", at).await;
            let params = request.params().clone();
            let mut response = HttpResponse::new(200);
            if let Some(session) = session {
                response = response.header("Mcp-Session-Id", session);
            }
            let result = handshake.result(&params);
            let answer = request.envelope("result", &result.to_string());
            request
                .respond(response.body("application/json", answer))
                .await;
            self.post("notifications/initialized", at)
                .await
                .accept()
                .await;
            params
        }
    }

    /// Closes the listener and every connection that no exchange holds; the port is free when this returns.
    pub async fn close(mut self) {
        self.tasks.shutdown().await;
    }

    fn post(
        &mut self,
        method: &str,
        at: &'static Location<'static>,
    ) -> impl Future<Output = Exchange> {
        self.expect(at, format!("POST of {method:?}"), move |arrival| {
            arrival.request.verb() == "POST" && arrival.request.message().method() == Some(method)
        })
    }

    async fn expect(
        &mut self,
        at: &'static Location<'static>,
        wanted: String,
        fits: impl Fn(&Arrival) -> bool,
    ) -> Exchange {
        let deadline = Instant::now() + self.deadline;
        loop {
            if let Some(first) = self.waiting.iter().position(&fits) {
                return Exchange::new(self.waiting.remove(first), self.deadline, at);
            }
            match timeout_at(deadline, self.arrivals.recv()).await {
                Ok(Some(arrival)) => self.waiting.push(arrival),
                _ => fail(
                    at,
                    format_args!(
                        "expected {wanted} within {:?}, {}",
                        self.deadline,
                        Waiting(&self.waiting)
                    ),
                ),
            }
        }
    }
}

/// What came instead, in words.
struct Waiting<'a>(&'a [Arrival]);

impl fmt::Display for Waiting<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return write!(f, "got nothing");
        }
        write!(f, "got:")?;
        self.0
            .iter()
            .try_for_each(|arrival| write!(f, "\n  {}", arrival.request))
    }
}
