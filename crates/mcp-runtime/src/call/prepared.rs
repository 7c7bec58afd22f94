//! A call that is bound to what was captured.

use std::fmt;
use std::sync::Arc;

use futures_util::FutureExt;
use mcp_keys::ToolKey;

use super::execution::Execution;
use super::{
    CallError, CallErrorKind, CallId, CallOptions, DefinitionDigest, Gates, METHOD, Target,
    ToolOutput,
};
use crate::authority::Authority;
use crate::connection::{Connection, RequestError, RequestErrorKind};
use crate::slot::Slot;
use crate::tool::Tool;

/// One call of one tool on one connection, decided when it was prepared (B2).
///
/// It runs on what it captured, or fails: never on another server, never on a definition nobody has seen. It runs once;
/// calling again means preparing again.
pub struct PreparedCall {
    pub(super) target: Arc<Target>,
    pub(super) connection: Arc<Connection>,
    /// The server, as it is configured.
    pub(super) slot: Arc<Slot>,
    pub(super) authority: Authority,
    pub(super) gates: Arc<Gates>,
}

impl PreparedCall {
    pub(crate) fn new(
        target: Target,
        connection: Arc<Connection>,
        slot: Arc<Slot>,
        authority: Authority,
        gates: Arc<Gates>,
    ) -> Self {
        Self {
            target: Arc::new(target),
            connection,
            slot,
            authority,
            gates,
        }
    }

    /// The name of this call, as progress events carry it.
    #[must_use]
    pub fn id(&self) -> CallId {
        self.target.id
    }

    /// The tool to be called.
    #[must_use]
    pub fn key(&self) -> &ToolKey {
        &self.target.key
    }

    /// The definition the call was prepared with.
    #[must_use]
    pub fn tool(&self) -> &Tool {
        self.target.tool()
    }

    /// What that definition amounts to, as approvals know it (A1).
    #[must_use]
    pub fn definition_digest(&self) -> DefinitionDigest {
        DefinitionDigest::of(self.tool())
    }

    /// Calls the tool: through the hooks (H1), the approval (A1) and the access lookup (L1) of the host to the server.
    ///
    /// All of it takes place within the call's budget, which stands still while an approval is open or a person is asked
    /// on behalf of the call (B3). Dropping the future takes back what is being asked, and tells the server that nobody
    /// waits any more (B4).
    ///
    /// # Errors
    ///
    /// See [`CallErrorKind`]. A tool that says it failed is no error: see [`ToolOutput::is_error`].
    pub async fn execute(self, options: CallOptions) -> Result<ToolOutput, CallError> {
        Execution::begin(&self, options).outcome().await
    }

    /// Whether the call can still be made on what it captured (B2): the connection is there, and its server still offers
    /// the tool as it was.
    pub(super) fn check(&self) -> Result<(), CallErrorKind> {
        if let Some(ended) = self.connection.closed().now_or_never() {
            return Err(RequestError::new(METHOD, RequestErrorKind::Closed(ended)).into());
        }
        let current = self.connection.catalog().snapshot();
        if current.revision() == self.target.snapshot.revision() {
            return Ok(());
        }
        let tool = self.tool();
        let mut offered = current.items().iter();
        let is_offered = offered.any(|offered| offered.is_same(tool));
        is_offered
            .then_some(())
            .ok_or(CallErrorKind::CatalogChanged)
    }
}

impl fmt::Debug for PreparedCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PreparedCall")
            .field("id", &self.id())
            .field("key", self.key())
            .finish_non_exhaustive()
    }
}
