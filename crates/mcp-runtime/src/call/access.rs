//! What the host knows of whoever calls (L1).

use std::fmt;

use serde_json::value::RawValue;

use super::IntendedCall;
use crate::elicitation::HandlerFuture;

/// Looks up, for each call, whether it may be made and what the server is to know of it (L1).
///
/// The host trusts it; a model has no part in it. Its time counts as the call's (B3). No lock is held: it may call the
/// runtime.
///
/// A function is a lookup:
///
/// ```
/// use mcp_runtime::{Access, IntendedCall};
/// use serde_json::value::to_raw_value;
///
/// let lookup = |_call: IntendedCall| async {
///     match to_raw_value(&serde_json::json!({"example.org/tenant": "blue"})) {
///         Ok(meta) => Access::granted().meta(meta),
///         Err(error) => Access::refused(error.to_string()),
///     }
/// };
/// # let _: &dyn mcp_runtime::AccessLookup = &lookup;
/// ```
pub trait AccessLookup: Send + Sync + 'static {
    /// Looks it up. A panic blocks the call.
    fn look_up(&self, call: IntendedCall) -> HandlerFuture<'_, Access>;
}

impl<F, A> AccessLookup for F
where
    F: Fn(IntendedCall) -> A + Send + Sync + 'static,
    A: Future<Output = Access> + Send + 'static,
{
    fn look_up(&self, call: IntendedCall) -> HandlerFuture<'_, Access> {
        Box::pin(self(call))
    }
}

/// What an access lookup says.
pub struct Access {
    pub(super) answer: Result<Option<Box<RawValue>>, String>,
}

impl Access {
    /// The call may be made.
    #[must_use]
    pub fn granted() -> Self {
        Self { answer: Ok(None) }
    }

    /// The call is not made, and this is why.
    #[must_use]
    pub fn refused(message: impl Into<String>) -> Self {
        let answer = Err(message.into());
        Self { answer }
    }

    /// Members for the request's `_meta`, a JSON object, unless access is refused. Reserved members are left out (S6); of two
    /// with one name this one counts, not the caller's.
    #[must_use]
    pub fn meta(mut self, meta: Box<RawValue>) -> Self {
        self.answer = self.answer.map(|_| Some(meta));
        self
    }
}

impl fmt::Debug for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // What it knows may be secret.
        f.debug_struct("Access")
            .field("granted", &self.answer.is_ok())
            .finish_non_exhaustive()
    }
}
