//! Why a call was not prepared, or got no result.

use mcp_keys::{InvalidName, McpServerKey, ResolveError, ToolKey};
use mcp_sandbox_meta::MetaNotAnObject;
use mcp_telemetry::{Classified, ErrorCode, RequestFailure};
use serde_json::value::RawValue;

use super::Blocked;
use crate::connection::RequestError;
use crate::outage::Outage;

/// Why a name does not lead to a call.
#[derive(Debug, thiserror::Error)]
#[error("tool `{name}` cannot be called")]
pub struct PrepareError {
    name: String,
    #[source]
    kind: PrepareErrorKind,
}

/// The cases of [`PrepareError`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PrepareErrorKind {
    /// No tool of the binding has this model-visible name.
    #[error("no tool of this binding has that name; list the tools to see their names")]
    UnknownName,
    /// The server is there, the tool is not.
    #[error("server `{server}` offers no such tool")]
    UnknownTool {
        /// The server.
        server: McpServerKey,
    },
    /// The server has lost its connection (R10). Nothing waits for a new one.
    #[error("server `{server}` is not connected")]
    Disconnected {
        /// The server.
        server: McpServerKey,
        /// How the connection ended, and what is done about it.
        #[source]
        outage: Outage,
    },
    /// The server is known, and has not been connected.
    #[error("server `{server}` is not connected")]
    NotConnected {
        /// The server.
        server: McpServerKey,
    },
    /// The server's name and environment mean no server (K7).
    #[error(transparent)]
    Server(#[from] ResolveError),
    /// A name is none (K1).
    #[error(transparent)]
    Name(#[from] InvalidName),
}

impl PrepareError {
    pub(crate) fn new(name: &str, kind: impl Into<PrepareErrorKind>) -> Self {
        Self {
            name: name.to_owned(),
            kind: kind.into(),
        }
    }

    /// Which case it is.
    #[must_use]
    pub fn kind(&self) -> &PrepareErrorKind {
        &self.kind
    }

    /// The bounded code (T1).
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self.kind {
            PrepareErrorKind::Disconnected { .. } | PrepareErrorKind::NotConnected { .. } => {
                ErrorCode::TransportClosed
            }
            _ => ErrorCode::InvalidRequest,
        }
    }

    /// How the server's connection ended, where that is the reason.
    #[must_use]
    pub fn outage(&self) -> Option<&Outage> {
        match &self.kind {
            PrepareErrorKind::Disconnected { outage, .. } => Some(outage),
            _ => None,
        }
    }

    /// The keys that could have been meant (K7).
    #[must_use]
    pub fn candidates(&self) -> &[McpServerKey] {
        match &self.kind {
            PrepareErrorKind::Server(error) => error.candidates(),
            _ => &[],
        }
    }
}

impl Classified for PrepareError {
    fn error_code(&self) -> Option<ErrorCode> {
        Some(self.code())
    }
}

/// Why a call got no result from its tool.
#[derive(Debug, thiserror::Error)]
#[error("calling `{}` of server `{}` failed", .tool.tool(), .tool.server())]
pub struct CallError {
    tool: ToolKey,
    #[source]
    kind: CallErrorKind,
    context: Vec<Box<RawValue>>,
}

/// The cases of [`CallError`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CallErrorKind {
    /// The request failed.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// The tool's definition changed or went since the call was prepared; nothing was sent (B2).
    #[error(
        "the tool's definition changed since the call was prepared; capture a new binding and look at it again"
    )]
    CatalogChanged,
    /// Somebody on this side said no; nothing was sent.
    #[error(transparent)]
    Blocked(#[from] Blocked),
    /// The arguments, the caller's or those that a hook put in their place, are no JSON object; nothing was sent.
    #[error("the arguments must be a JSON object")]
    Arguments,
    /// The metadata is no JSON object; nothing was sent.
    #[error(transparent)]
    Meta(#[from] MetaNotAnObject),
    /// The result is no JSON object.
    #[error("the result is not a JSON object")]
    Result,
}

impl CallError {
    pub(crate) fn new(tool: ToolKey, kind: impl Into<CallErrorKind>) -> Self {
        Self {
            tool,
            kind: kind.into(),
            context: Vec::new(),
        }
    }

    pub(super) fn with_context(mut self, context: Vec<Box<RawValue>>) -> Self {
        self.context = context;
        self
    }

    /// What hooks have added for the host before the call failed, in their order (H1).
    #[must_use]
    pub fn context(&self) -> &[Box<RawValue>] {
        &self.context
    }

    /// The tool that was called.
    #[must_use]
    pub fn tool(&self) -> &ToolKey {
        &self.tool
    }

    /// Which case it is.
    #[must_use]
    pub fn kind(&self) -> &CallErrorKind {
        &self.kind
    }

    /// The bounded code (T1).
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match &self.kind {
            CallErrorKind::Request(error) => error.code(),
            CallErrorKind::CatalogChanged => ErrorCode::CatalogChanged,
            CallErrorKind::Blocked(_) => ErrorCode::Blocked,
            CallErrorKind::Arguments | CallErrorKind::Meta(_) => ErrorCode::InvalidRequest,
            CallErrorKind::Result => ErrorCode::UnexpectedResponse,
        }
    }

    /// The failed request, where there was one.
    #[must_use]
    pub fn request(&self) -> Option<&RequestError> {
        match &self.kind {
            CallErrorKind::Request(error) => Some(error),
            _ => None,
        }
    }
}

impl From<&CallError> for RequestFailure {
    fn from(error: &CallError) -> Self {
        match error.request() {
            Some(request) => request.into(),
            None => Self::new(error.code()),
        }
    }
}

impl Classified for CallError {
    fn error_code(&self) -> Option<ErrorCode> {
        Some(self.code())
    }
}
