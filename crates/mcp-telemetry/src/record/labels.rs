//! Which server something was recorded of.

use std::sync::Arc;

use opentelemetry::KeyValue;

use super::attribute::{self, fixed, shared};

/// Which server something is recorded of: what the host configured, and nothing that a server says of itself.
///
/// ```
/// use mcp_telemetry::ServerLabels;
///
/// let docs = ServerLabels::stdio("docs").environment("devbox");
/// let wiki = ServerLabels::http("wiki", "https://wiki.example", "wiki.example", 443);
/// assert_ne!(docs, wiki);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ServerLabels {
    name: Option<Arc<str>>,
    environment: Option<Arc<str>>,
    reach: Reach,
}

/// How a server is reached.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Reach {
    Nowhere,
    Pipe,
    Tcp {
        origin: Arc<str>,
        address: Arc<str>,
        port: u16,
    },
}

impl ServerLabels {
    /// A server on a pipe.
    #[must_use]
    pub fn stdio(name: impl Into<Arc<str>>) -> Self {
        Self {
            name: Some(name.into()),
            environment: None,
            reach: Reach::Pipe,
        }
    }

    /// An HTTP endpoint. The origin is scheme, host and port of its URL, and the rest of the URL is nobody's business.
    #[must_use]
    pub fn http(
        name: impl Into<Arc<str>>,
        origin: impl Into<Arc<str>>,
        address: impl Into<Arc<str>>,
        port: u16,
    ) -> Self {
        Self {
            name: Some(name.into()),
            environment: None,
            reach: Reach::Tcp {
                origin: origin.into(),
                address: address.into(),
                port,
            },
        }
    }

    /// The environment that owns the server.
    #[must_use]
    pub fn environment(mut self, id: impl Into<Arc<str>>) -> Self {
        self.environment = Some(id.into());
        self
    }

    /// No server: a name that leads to none.
    pub(super) fn none() -> Self {
        Self {
            name: None,
            environment: None,
            reach: Reach::Nowhere,
        }
    }

    pub(super) fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// What a span says of it beside its name.
    pub(super) fn place(&self) -> Vec<KeyValue> {
        let environment = self.environment.iter();
        let environment = environment.map(|id| shared(attribute::ENVIRONMENT, id));
        environment.chain(self.network()).collect()
    }

    /// What a metric says of it.
    pub(super) fn all(&self) -> Vec<KeyValue> {
        self.identity().chain(self.network()).collect()
    }

    /// Who the server is.
    pub(super) fn identity(&self) -> impl Iterator<Item = KeyValue> {
        let name = self.name.iter().map(|name| shared(attribute::SERVER, name));
        let environment = self.environment.iter();
        name.chain(environment.map(|id| shared(attribute::ENVIRONMENT, id)))
    }

    /// How it is reached.
    fn network(&self) -> Vec<KeyValue> {
        match &self.reach {
            Reach::Nowhere => Vec::new(),
            Reach::Pipe => vec![fixed(attribute::TRANSPORT, "pipe")],
            Reach::Tcp { address, port, .. } => vec![
                fixed(attribute::TRANSPORT, "tcp"),
                shared(attribute::ADDRESS, address),
                KeyValue::new(attribute::PORT, i64::from(*port)),
            ],
        }
    }

    /// What the profile `codex` says of a server.
    pub(super) fn codex(&self) -> Vec<KeyValue> {
        let (origin, transport) = match &self.reach {
            Reach::Nowhere => return Vec::new(),
            Reach::Pipe => (fixed("mcp.server.origin", "stdio"), "stdio"),
            Reach::Tcp { origin, .. } => (shared("mcp.server.origin", origin), "streamable_http"),
        };
        let environment = self.environment.iter();
        let environment = environment.map(|id| shared(attribute::ENVIRONMENT, id));
        let rest = [origin, fixed("mcp.transport", transport)];
        environment.chain(rest).collect()
    }
}
