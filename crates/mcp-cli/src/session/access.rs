//! The access lookup of whoever runs the session (L1).

use mcp_runtime::{Access, AccessLookup, HandlerFuture, Invocation};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::caller::Caller;
use super::question::Questions;
use crate::report::ErrorReport;

/// Asks about access.
pub(super) struct Accesses(pub(super) Caller);

/// `access_reply`.
#[derive(Debug, Deserialize)]
pub(super) struct Reply {
    request: u64,
    #[serde(default)]
    meta: Option<Box<RawValue>>,
    refuse: Option<String>,
}

impl Reply {
    pub(super) fn answer(self, accesses: &Questions<Access>) -> Result<(), ErrorReport> {
        let access = match (self.refuse, self.meta) {
            (Some(message), _) => Access::refuse(message),
            (None, Some(meta)) => Access::grant_with(meta),
            (None, None) => Access::grant(),
        };
        accesses.answer(self.request, || Ok(access))
    }
}

/// Beside whose call it is, nothing: access does not depend on what is asked for.
#[derive(Serialize)]
struct Details {}

impl AccessLookup for Accesses {
    fn look_up(&self, call: Invocation) -> HandlerFuture<'_, Access> {
        Box::pin(async move {
            let Self(caller) = self;
            let accesses = &caller.open.accesses;
            let access = caller.ask("access", &call, Details {}, accesses).await;
            access.unwrap_or_else(|| Access::refuse("the session has ended"))
        })
    }
}
