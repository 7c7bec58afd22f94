//! Hooks: what the host does before and after each call (H1).

use std::fmt;
use std::future::ready;
use std::sync::Arc;

use mcp_keys::McpServerKey;
use serde_json::value::RawValue;

use super::{CallError, Invocation, ToolOutput};
use crate::elicitation::HandlerFuture;

/// What became of a call that was sent.
pub type CallOutcome<'a> = Result<&'a ToolOutput, &'a CallError>;

/// Looks at calls before they are made, and at what became of them (H1).
///
/// Several hooks run one after the other, in the order in which the builder was given them; each sees what those
/// before it made of the arguments. The time they take is the call's (B3): one that does not answer in it ends the call
/// as a server would that does not answer. One that panics before a call has denied it. No lock is held: a hook
/// may call tools, of the same server too.
///
/// A hook that keeps the runtime keeps it for ever, since the runtime keeps the hook: give it a [`Weak`](std::sync::Weak).
///
/// A function is a hook that looks at calls before they are made:
///
/// ```
/// use mcp_runtime::{ApprovalPolicy, HookOutput, Invocation, McpRuntime};
///
/// let builder = McpRuntime::builder(ApprovalPolicy::approve_all()).hook(|call: Invocation| async move {
///     match call.arguments().get().contains("/etc/") {
///         true => HookOutput::deny("nothing below /etc is anybody's business"),
///         false => HookOutput::proceed(),
///     }
/// });
/// # let _ = builder;
/// ```
pub trait ToolHook: Send + Sync + 'static {
    /// Says what becomes of a call: it goes on, with other arguments perhaps, or it is denied.
    fn before(&self, call: Invocation) -> HandlerFuture<'_, HookOutput> {
        drop(call);
        Box::pin(ready(HookOutput::proceed()))
    }

    /// Sees what became of a call that was sent; one that was refused before is none. The outcome stays what it is.
    ///
    /// What is left of the call's time is the hook's, and one that takes longer is dropped. It is polled at least once.
    /// A panic is logged. A call whose future is dropped has no outcome.
    fn after<'a>(&'a self, call: Invocation, outcome: CallOutcome<'a>) -> HandlerFuture<'a, ()> {
        let _ = (call, outcome);
        Box::pin(ready(()))
    }
}

impl<F, A> ToolHook for F
where
    F: Fn(Invocation) -> A + Send + Sync + 'static,
    A: Future<Output = HookOutput> + Send + 'static,
{
    fn before(&self, call: Invocation) -> HandlerFuture<'_, HookOutput> {
        Box::pin(self(call))
    }
}

/// What a hook says before a call.
///
/// Nothing in it moves a call to another tool: whose call it is was decided when it was prepared.
#[derive(Clone, Default)]
#[must_use]
pub struct HookOutput {
    pub(super) denial: Option<String>,
    pub(super) arguments: Option<Box<RawValue>>,
    pub(super) context: Option<Box<RawValue>>,
    pub(super) owner: Option<McpServerKey>,
}

impl HookOutput {
    /// The call goes on.
    pub fn proceed() -> Self {
        Self::default()
    }

    /// The call is not made; the message says why.
    pub fn deny(message: impl Into<String>) -> Self {
        Self {
            denial: Some(message.into()),
            ..Self::default()
        }
    }

    /// These are the arguments from now on, a JSON object; with anything else the call is not made.
    pub fn arguments(mut self, arguments: Box<RawValue>) -> Self {
        self.arguments = Some(arguments);
        self
    }

    /// Something for the host, which gets it back with the outcome: see [`ToolOutput::context`] and
    /// [`CallError::context`]. The server is not told.
    pub fn context(mut self, context: Box<RawValue>) -> Self {
        self.context = Some(context);
        self
    }

    /// For which server the output is meant, where it was made elsewhere and says so. If that is not the server of the
    /// call, the call is not made.
    pub fn owner(mut self, server: McpServerKey) -> Self {
        self.owner = Some(server);
        self
    }
}

impl fmt::Debug for HookOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Arguments and context may hold secrets.
        f.debug_struct("HookOutput")
            .field("denial", &self.denial)
            .field("owner", &self.owner)
            .finish_non_exhaustive()
    }
}

/// A hook of a runtime.
#[derive(Clone)]
pub(crate) struct Hook(pub(crate) Arc<dyn ToolHook>);

impl fmt::Debug for Hook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hook")
    }
}
