//! Why a server did not start, with what a person needs to mend it.

use std::fmt;
use std::sync::Arc;

use mcp_catalog::JoinTimeout;
use mcp_keys::McpServerKey;
use mcp_telemetry::{Classified, ErrorCode};

use crate::config::Transport;
use crate::connection::{
    ConnectError, Disconnect, HttpSetupError, Process, RequestError, RequestErrorKind, RpcError,
    SpawnError, UnsupportedVersion,
};
use crate::deadline::Elapsed;
use crate::executor::ExecutorError;
use crate::slot::Slot;

/// How far a startup came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Phase {
    /// Starting the process, or setting up the HTTP client.
    Connect,
    /// Agreeing on version and capabilities.
    Handshake,
    /// Listing the tools.
    Listing,
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Connect => "connecting",
            Self::Handshake => "the handshake",
            Self::Listing => "listing its tools",
        })
    }
}

/// Why a server did not start.
#[derive(Debug, thiserror::Error)]
#[error("server `{server}` ({what}) did not start: {phase} failed")]
pub struct StartupError {
    server: McpServerKey,
    what: String,
    phase: Phase,
    stderr_tail: String,
    #[source]
    kind: StartupErrorKind,
}

/// The cases of [`StartupError`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartupErrorKind {
    /// The configuration asks for what its environment's executor cannot do (R4).
    #[error(transparent)]
    Executor(ExecutorError),
    /// The process could not be started.
    #[error(transparent)]
    Spawn(SpawnError),
    /// The HTTP client could not be set up.
    #[error(transparent)]
    HttpSetup(HttpSetupError),
    /// The startup's budget was spent (R2).
    #[error("{0}; if the server needs longer, raise `startup_timeout_sec`")]
    Timeout(Elapsed, #[source] Option<JoinTimeout>),
    /// A request of the startup failed.
    #[error(transparent)]
    Request(RequestError),
    /// The server speaks a version that we do not.
    #[error(transparent)]
    Version(UnsupportedVersion),
}

impl StartupError {
    /// The server.
    #[must_use]
    pub fn server(&self) -> &McpServerKey {
        &self.server
    }

    /// How far it came.
    #[must_use]
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// Which case it is.
    #[must_use]
    pub fn kind(&self) -> &StartupErrorKind {
        &self.kind
    }

    /// The end of the server's standard error; empty when there was none.
    #[must_use]
    pub fn stderr_tail(&self) -> &str {
        &self.stderr_tail
    }

    /// The bounded code (T1).
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        self.kind.code()
    }

    /// The server's own JSON-RPC error, where it gave one.
    #[must_use]
    pub fn rpc(&self) -> Option<RpcError> {
        match &self.kind {
            StartupErrorKind::Request(error) => error.rpc().cloned(),
            _ => None,
        }
    }
}

impl StartupErrorKind {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Timeout(..) => ErrorCode::RequestTimeout,
            Self::Executor(_) | Self::Spawn(_) | Self::HttpSetup(_) | Self::Version(_) => {
                ErrorCode::StartupFailed
            }
            // A server that exits instead of shaking hands has failed to start, whatever its connection says.
            Self::Request(error) if error.disconnect().is_some() => ErrorCode::StartupFailed,
            Self::Request(error) => error.code(),
        }
    }
}

impl Classified for StartupError {
    fn error_code(&self) -> Option<ErrorCode> {
        Some(self.code())
    }
}

/// A failure before everything about it is known.
#[derive(Debug)]
pub(super) struct Failure {
    phase: Phase,
    kind: StartupErrorKind,
    process: Option<Process>,
}

impl Failure {
    pub(super) fn executor(error: ExecutorError) -> Self {
        Self {
            phase: Phase::Connect,
            kind: StartupErrorKind::Executor(error),
            process: None,
        }
    }

    pub(super) fn connect(error: ConnectError) -> Self {
        let (phase, kind) = match error {
            ConnectError::Spawn(error) => (Phase::Connect, StartupErrorKind::Spawn(error)),
            ConnectError::Timeout(elapsed) => {
                (Phase::Connect, StartupErrorKind::Timeout(elapsed, None))
            }
            ConnectError::HttpSetup(error) => (Phase::Connect, StartupErrorKind::HttpSetup(error)),
            ConnectError::Encode(error) => {
                let kind = RequestErrorKind::Encode(error);
                let error = RequestError::new("server/discover", kind);
                (Phase::Handshake, StartupErrorKind::Request(error))
            }
            ConnectError::Version(error) => (Phase::Handshake, StartupErrorKind::Version(error)),
            ConnectError::Request(error) => (Phase::Handshake, Self::request(error)),
        };
        Self {
            phase,
            kind,
            process: None,
        }
    }

    /// The budget was spent before there was a connection.
    pub(super) fn out_of_time(elapsed: Elapsed) -> Self {
        Self {
            phase: Phase::Handshake,
            kind: StartupErrorKind::Timeout(elapsed, None),
            process: None,
        }
    }

    pub(super) fn listing(error: RequestError) -> Self {
        Self {
            phase: Phase::Listing,
            kind: Self::request(error),
            process: None,
        }
    }

    pub(super) fn closed(why: Arc<Disconnect>) -> Self {
        Self::listing(crate::listing::closed(why))
    }

    pub(super) fn waiting(error: JoinTimeout, elapsed: Elapsed) -> Self {
        Self {
            phase: Phase::Listing,
            kind: StartupErrorKind::Timeout(elapsed, Some(error)),
            process: None,
        }
    }

    /// The process whose last words belong to the failure.
    pub(super) fn of(mut self, process: Option<Process>) -> Self {
        self.process = process;
        self
    }

    /// The startup's budget is one, whichever request was under way when it was spent.
    fn request(error: RequestError) -> StartupErrorKind {
        match error.elapsed() {
            Some(elapsed) => StartupErrorKind::Timeout(elapsed, None),
            None => StartupErrorKind::Request(error),
        }
    }

    pub(super) fn code(&self) -> ErrorCode {
        self.kind.code()
    }

    pub(super) async fn into_error(self, slot: &Slot) -> StartupError {
        let stderr_tail = match &self.process {
            Some(process) => process.stderr().last_words().await,
            None => String::new(),
        };
        // Arguments and query strings may hold secrets: they are counted, not shown.
        let what = match slot.config.transport() {
            Transport::Stdio(stdio) => {
                let arguments = match stdio.args.len() {
                    0 => String::new(),
                    1 => " with 1 argument".to_owned(),
                    count => format!(" with {count} arguments"),
                };
                let behind = slot.placement.executor.program();
                let behind = behind.map(|program| format!(" behind `{program}`"));
                format!(
                    "`{}`{arguments}{}",
                    stdio.command,
                    behind.unwrap_or_default()
                )
            }
            Transport::Http(http) => format!("`{}`", http.url.origin().ascii_serialization()),
        };
        StartupError {
            server: slot.key.clone(),
            what,
            phase: self.phase,
            stderr_tail,
            kind: self.kind,
        }
    }
}
