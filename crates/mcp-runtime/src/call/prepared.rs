//! A call that is bound to what was captured.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use mcp_catalog::CatalogSnapshot;
use mcp_keys::ToolKey;
use mcp_sandbox_meta::{RawMeta, SandboxMetadata};
use serde::Serialize;
use serde_json::value::RawValue;

use super::request_meta::RequestMeta;
use super::{CallBudget, CallError, CallErrorKind, CallId, ToolOutput};
use crate::authority::Authority;
use crate::connection::{Connection, Input, RequestError, RequestErrorKind, ToolCall};
use crate::deadline::Deadline;
use crate::tool::Tool;

const METHOD: &str = "tools/call";

/// One call of one tool on one connection, decided when it was prepared (B2).
///
/// It runs on what it captured, or fails: never on another server, never on a definition nobody has seen. It runs once;
/// calling again means preparing again.
#[derive(Debug)]
pub struct PreparedCall {
    id: CallId,
    key: ToolKey,
    connection: Arc<Connection>,
    snapshot: Arc<CatalogSnapshot<Tool>>,
    item: usize,
    budget: CallBudget,
    authority: Authority,
}

/// What goes with a call.
///
/// ```
/// use std::time::Duration;
/// use mcp_runtime::CallOptions;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let arguments = serde_json::value::to_raw_value(&serde_json::json!({"query": "tower"}))?;
/// let options = CallOptions::new().arguments(arguments).timeout(Duration::from_secs(5));
/// # let _ = options;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default)]
pub struct CallOptions {
    arguments: Option<Box<RawValue>>,
    meta: Option<Box<RawValue>>,
    timeout: Option<Duration>,
}

impl CallOptions {
    /// No arguments, no metadata, the server's own budget.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The arguments, a JSON object. The server gets them as they are (W1).
    #[must_use]
    pub fn arguments(mut self, arguments: Box<RawValue>) -> Self {
        self.arguments = Some(arguments);
        self
    }

    /// Members for the request's `_meta`, a JSON object. Reserved members are left out (S6).
    #[must_use]
    pub fn meta(mut self, meta: Box<RawValue>) -> Self {
        self.meta = Some(meta);
        self
    }

    /// A smaller budget than the server's `tool_timeout`; a larger one changes nothing (B3). Where the server is
    /// configured with `reset_on_progress`, this budget begins anew with progress too (B4).
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }
}

impl fmt::Debug for CallOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Arguments and metadata may hold secrets.
        f.debug_struct("CallOptions")
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

#[derive(Serialize)]
struct CallParams<'a> {
    name: &'a str,
    arguments: &'a RawValue,
    #[serde(rename = "inputResponses", skip_serializing_if = "Option::is_none")]
    responses: Option<Box<RawValue>>,
    #[serde(rename = "requestState", skip_serializing_if = "Option::is_none")]
    state: Option<Box<RawValue>>,
    #[serde(rename = "_meta", skip_serializing_if = "RawMeta::is_empty")]
    meta: RawMeta,
}

impl PreparedCall {
    pub(crate) fn new(
        key: ToolKey,
        connection: Arc<Connection>,
        snapshot: Arc<CatalogSnapshot<Tool>>,
        item: usize,
        budget: CallBudget,
        authority: Authority,
    ) -> Self {
        Self {
            id: CallId::next(),
            key,
            connection,
            snapshot,
            item,
            budget,
            authority,
        }
    }

    /// The name of this call, as progress events carry it.
    #[must_use]
    pub fn id(&self) -> CallId {
        self.id
    }

    /// The tool to be called.
    #[must_use]
    pub fn key(&self) -> &ToolKey {
        &self.key
    }

    /// The definition the call was prepared with.
    #[must_use]
    pub fn tool(&self) -> &Tool {
        &self.snapshot.items()[self.item]
    }

    /// Calls the tool. Dropping the future tells the server that nobody waits any more, and takes back what a person was
    /// asked on behalf of the call (B4). The time a person takes does not count (B3).
    ///
    /// # Errors
    ///
    /// See [`CallErrorKind`]. A tool that says it failed is no error: see [`ToolOutput::is_error`].
    pub async fn execute(self, options: CallOptions) -> Result<ToolOutput, CallError> {
        match self.run(options).await {
            Ok(output) => Ok(output),
            Err(kind) => Err(CallError::new(self.key, kind)),
        }
    }

    async fn run(&self, options: CallOptions) -> Result<ToolOutput, CallErrorKind> {
        let CallOptions {
            arguments,
            meta,
            timeout,
        } = options;
        let deadline = self.budget.begin(timeout);
        let empty = RawValue::from_string("{}".to_owned()).expect("an empty object is JSON");
        let arguments = arguments.as_deref().unwrap_or(&empty);
        if !arguments.get().starts_with('{') {
            return Err(CallErrorKind::Arguments);
        }
        let meta = self.request_meta(meta.as_deref(), &deadline).await?;
        if !self.is_current() {
            return Err(CallErrorKind::CatalogChanged);
        }
        let name = self.key.tool().as_str();
        let params = |meta, Input { responses, state }| CallParams {
            name,
            arguments,
            responses,
            state,
            meta,
        };
        let call = ToolCall {
            id: self.id,
            definition: self.tool().definition(),
        };
        let under_way = self.connection.begin(self.id, &deadline);
        let request = self
            .connection
            .converse(METHOD, meta, params, Some(call), &deadline);
        let answer = request.await;
        // What failed on the way was given up, as by its deadline: nobody waits for what a person would say.
        let given_up = |error: &RequestError| error.elapsed().is_some() || error.http().is_some();
        if !answer.as_ref().is_err_and(given_up) {
            under_way.answered();
        }
        ToolOutput::new(answer?).ok_or(CallErrorKind::Result)
    }

    async fn request_meta(
        &self,
        of_caller: Option<&RawValue>,
        deadline: &Deadline,
    ) -> Result<RawMeta, CallErrorKind> {
        let mut meta = RequestMeta::default();
        if let Some(members) = of_caller {
            meta.accept(members)?;
        }
        if self.connection.facts().wants_sandbox_state {
            let authority = self.sandbox_metadata(deadline).await;
            let authority = authority.map_err(|kind| RequestError::new(METHOD, kind))?;
            authority.inspect(|authority| meta.tell_authority(authority));
        }
        Ok(meta.into_raw())
    }

    /// What the server is told of the authority of the call. That the launcher has to be asked first takes time of the
    /// call (B3), and nobody waits for it when the server is gone (R10).
    async fn sandbox_metadata(
        &self,
        deadline: &Deadline,
    ) -> Result<Option<SandboxMetadata>, RequestErrorKind> {
        let authority = self.authority.metadata(self.connection.reaches_launcher());
        tokio::select! {
            biased;
            authority = deadline.bound(authority) => Ok(authority?),
            ended = self.connection.closed() => Err(RequestErrorKind::Closed(ended)),
        }
    }

    /// Whether the server still offers the tool as it was captured (B2).
    fn is_current(&self) -> bool {
        let current = self.connection.catalog().snapshot();
        if current.revision() == self.snapshot.revision() {
            return true;
        }
        let tool = self.tool();
        current.items().iter().any(|offered| offered.is_same(tool))
    }
}
