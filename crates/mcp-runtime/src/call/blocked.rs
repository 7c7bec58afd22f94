//! Calls that are not made.

use std::panic::AssertUnwindSafe;

use futures_util::FutureExt;

/// Why a call was not made: nothing of it reached the server.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Blocked {
    /// A hook said no (H1).
    #[error("a hook said no: {message}")]
    ByHook {
        /// What it said.
        message: String,
    },
    /// A hook's answer is about another server or environment than the call (H1).
    #[error("a hook's answer names {named}, and a call cannot be moved there; leave it out")]
    Moved {
        /// What it names.
        named: String,
    },
    /// A hook's arguments are no JSON object (H1).
    #[error("a hook's arguments are not a JSON object")]
    HookArguments,
    /// The configuration denies the tool (A1).
    #[error("the configuration denies this tool")]
    ByConfiguration,
    /// The approver said no (A1).
    #[error("it was not approved")]
    NotApproved,
    /// The call needs approval, and the host has given no approver (A1).
    #[error("it needs approval, and there is nobody to ask")]
    NobodyToApprove,
    /// The access lookup said no (L1).
    #[error("access was refused: {message}")]
    ByAccess {
        /// What it said.
        message: String,
    },
    /// What was asked on behalf of the host panicked.
    #[error("the host's {handler} panicked")]
    Panicked {
        /// What.
        handler: &'static str,
    },
}

/// Asks a handler of the host. One that panics blocks the call, and harms nobody else.
pub(crate) async fn unharmed<T>(
    handler: &'static str,
    asking: impl Future<Output = T>,
) -> Result<T, Blocked> {
    let asked = AssertUnwindSafe(asking).catch_unwind().await;
    asked.map_err(|_panic| {
        tracing::error!(handler, "the host's handler panicked");
        Blocked::Panicked { handler }
    })
}
