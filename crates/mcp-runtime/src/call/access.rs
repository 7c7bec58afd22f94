//! The access lookup: a trusted word of the host's on each call (L1).

use std::fmt;
use std::sync::Arc;

use serde_json::value::RawValue;

use super::Invocation;
use crate::elicitation::HandlerFuture;

/// Says whether a call has access, and what its server is to be told of that (L1).
///
/// It is asked last, when the call was approved, with the arguments that are sent. The time it takes is the call's (B3). No
/// lock is held: it may use the runtime. One that panics has refused.
///
/// A function is a lookup:
///
/// ```
/// use mcp_runtime::{Access, ApprovalPolicy, Invocation, McpRuntime};
///
/// let builder = McpRuntime::builder(ApprovalPolicy::approve_all()).access(|call: Invocation| async move {
///     match call.environment().as_str() {
///         "production" => Access::refuse("nobody is on duty"),
///         _ => Access::grant(),
///     }
/// });
/// # let _ = builder;
/// ```
pub trait AccessLookup: Send + Sync + 'static {
    /// Looks up whether this call has access.
    fn look_up(&self, call: Invocation) -> HandlerFuture<'_, Access>;
}

impl<F, A> AccessLookup for F
where
    F: Fn(Invocation) -> A + Send + Sync + 'static,
    A: Future<Output = Access> + Send + 'static,
{
    fn look_up(&self, call: Invocation) -> HandlerFuture<'_, Access> {
        Box::pin(self(call))
    }
}

/// What an access lookup found.
#[derive(Clone)]
#[must_use]
pub struct Access(pub(super) Found);

#[derive(Clone)]
pub(super) enum Found {
    Granted { meta: Option<Box<RawValue>> },
    Refused { message: String },
}

impl Access {
    /// The call goes on.
    pub fn grant() -> Self {
        Self(Found::Granted { meta: None })
    }

    /// The call goes on, with these members in the request's `_meta`, a JSON object. They take the place of the caller's
    /// members of the same names. Reserved members are left out (S6).
    pub fn grant_with(meta: Box<RawValue>) -> Self {
        Self(Found::Granted { meta: Some(meta) })
    }

    /// The call is not made; the message says why.
    pub fn refuse(message: impl Into<String>) -> Self {
        Self(Found::Refused {
            message: message.into(),
        })
    }
}

impl fmt::Debug for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // What a lookup adds may be a secret.
        match &self.0 {
            Found::Granted { .. } => f.write_str("Granted"),
            Found::Refused { message } => f.debug_tuple("Refused").field(message).finish(),
        }
    }
}

/// The lookup of a runtime.
#[derive(Clone)]
pub(crate) struct Lookup(pub(crate) Arc<dyn AccessLookup>);

impl fmt::Debug for Lookup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Lookup")
    }
}
