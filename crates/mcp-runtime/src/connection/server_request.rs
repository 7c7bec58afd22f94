//! What a server asks of us: ping, roots, sampling, elicitation. rmcp dispatches, we answer.

use std::convert::Infallible;
use std::sync::Arc;

use rmcp::model::{ClientCapabilities, ClientConfig, Implementation, ProtocolVersion};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::{ClientHandler, RoleClient};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tokio::sync::mpsc;

use super::codec;
use super::outbox::Outbox;

/// Requests of one server that may wait for their handlers. More than that is a server gone wild.
const WAITING_REQUESTS: usize = 256;

/// The version offered in `initialize` (R5).
pub(crate) const OFFERED: ProtocolVersion = ProtocolVersion::V_2025_11_25;

/// Answers what a server asks. Elicitation is declined and sampling refused until a host takes them over.
#[derive(Debug, Clone)]
pub(crate) struct ServerRequests {
    client: Implementation,
}

impl ServerRequests {
    pub(crate) fn new(client: Implementation) -> Self {
        Self { client }
    }

    /// What we say of ourselves in `initialize`.
    pub(crate) fn config(&self) -> ClientConfig {
        ClientConfig::new(ClientCapabilities::default(), self.client.clone())
            .with_protocol_version(OFFERED)
    }
}

impl ClientHandler for ServerRequests {
    fn get_info(&self) -> ClientConfig {
        self.config()
    }
}

/// The reader's end of the channel to rmcp.
#[derive(Debug)]
pub(crate) struct Inlet {
    messages: mpsc::Sender<RxJsonRpcMessage<RoleClient>>,
    outbox: Arc<Outbox>,
}

/// rmcp's end: receives what the reader passes on, sends through the outbox.
#[derive(Debug)]
pub(crate) struct Outlet {
    messages: mpsc::Receiver<RxJsonRpcMessage<RoleClient>>,
    outbox: Arc<Outbox>,
}

/// Connects the reader of a stream with rmcp's service loop.
pub(crate) fn channel(outbox: Arc<Outbox>) -> (Inlet, Outlet) {
    let (sender, messages) = mpsc::channel(WAITING_REQUESTS);
    (
        Inlet {
            messages: sender,
            outbox: outbox.clone(),
        },
        Outlet { messages, outbox },
    )
}

impl Inlet {
    /// Passes a request on, or answers it here when rmcp cannot take it. Never waits.
    pub(crate) fn request(&self, line: &[u8], method: &str) {
        let refused = match serde_json::from_slice(line) {
            Ok(message) => self
                .messages
                .try_send(message)
                .err()
                .map(|_| (-32_603, "too many requests are waiting")),
            Err(error) => {
                tracing::debug!(method, %error, "a request that cannot be read");
                Some((-32_600, "invalid request"))
            }
        };
        if let Some((code, message)) = refused {
            self.refuse(line, code, message);
        }
    }

    /// Passes on what concerns a handler: that the server no longer waits for it.
    pub(crate) fn notification(&self, line: &[u8], method: &str) {
        if method == "notifications/cancelled"
            && let Ok(message) = serde_json::from_slice(line)
        {
            // A full channel means the request itself is still waiting or was refused: its answer is ignored.
            let _ = self.messages.try_send(message);
        }
    }

    fn refuse(&self, line: &[u8], code: i64, message: &'static str) {
        #[derive(Deserialize)]
        struct WithId<'a> {
            #[serde(borrow)]
            id: &'a RawValue,
        }
        #[derive(Serialize)]
        struct Refusal<'a> {
            jsonrpc: &'static str,
            id: &'a RawValue,
            error: Problem,
        }
        #[derive(Serialize)]
        struct Problem {
            code: i64,
            message: &'static str,
        }
        // Without a readable id there is nobody to answer; an error with id null would only confuse the server.
        if let Ok(WithId { id }) = serde_json::from_slice(line)
            && id.get() != "null"
            && let Ok(answer) = codec::encode(&Refusal {
                jsonrpc: "2.0",
                id,
                error: Problem { code, message },
            })
        {
            let _ = self.outbox.push_owed(answer);
        }
    }
}

impl Transport<RoleClient> for Outlet {
    type Error = Infallible;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        match codec::encode(&item) {
            // A refusal means the connection is over, which its own end reports.
            Ok(line) => drop(self.outbox.push_owed(line)),
            Err(error) => tracing::warn!(%error, "an answer that cannot be written"),
        }
        std::future::ready(Ok(()))
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        self.messages.recv().await
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.messages.close();
        Ok(())
    }
}
