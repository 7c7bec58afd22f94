//! Everybody who has a say in calls.

use std::fmt;
use std::sync::Arc;

use serde_json::value::RawValue;

use super::hook::{CallEnd, ToolHook};
use super::{AccessLookup, Blocked, IntendedCall, unharmed};
use crate::approval::{ApprovalMode, ApprovalPolicy, Approvals, Undecided};

/// What a host has given a runtime to decide on calls with.
pub(crate) struct Gate {
    pub(crate) hooks: Vec<Arc<dyn ToolHook>>,
    pub(crate) approvals: Approvals,
    pub(crate) access: Option<Arc<dyn AccessLookup>>,
}

/// A call that may be made.
pub(super) struct Passed {
    pub(super) call: IntendedCall,
    /// What hooks want the host to know.
    pub(super) context: Vec<String>,
}

impl Gate {
    pub(crate) fn new(policy: ApprovalPolicy) -> Self {
        Self {
            hooks: Vec::new(),
            approvals: Approvals::new(policy),
            access: None,
        }
    }

    /// Whether nobody wants to see calls of this mode.
    pub(super) fn is_open(&self, mode: Option<ApprovalMode>) -> bool {
        self.hooks.is_empty() && self.access.is_none() && self.approvals.lets_pass(mode)
    }

    /// Asks the hooks (H1).
    pub(super) async fn before(&self, mut call: IntendedCall) -> Result<Passed, Blocked> {
        let mut context = Vec::new();
        for hook in &self.hooks {
            let seen = call.clone();
            let answer = unharmed("hook", async { hook.before(seen).await }).await?;
            let (next, text) = answer.apply(call)?;
            context.extend(text);
            call = next;
        }
        Ok(Passed { call, context })
    }

    /// Asks whoever approves (A1).
    pub(super) async fn approve(&self, undecided: Undecided<'_>) -> Result<(), Blocked> {
        self.approvals.decide(&undecided).await
    }

    /// Asks the access lookup (L1); what it adds to the request's `_meta`.
    pub(super) async fn access(
        &self,
        call: &IntendedCall,
    ) -> Result<Option<Box<RawValue>>, Blocked> {
        let Some(access) = &self.access else {
            return Ok(None);
        };
        let seen = call.clone();
        let access = unharmed("access lookup", async { access.look_up(seen).await }).await?;
        access
            .answer
            .map_err(|message| Blocked::ByAccess { message })
    }

    /// Tells the hooks what came of a call (H1); what they want the host to know. One that panics says nothing.
    pub(super) async fn after(
        &self,
        call: &IntendedCall,
        end: CallEnd<'_>,
        context: &mut Vec<String>,
    ) {
        for hook in &self.hooks {
            let seen = call.clone();
            let said = unharmed("hook", async { hook.after(seen, end).await }).await;
            context.extend(said.ok().flatten());
        }
    }
}

impl fmt::Debug for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gate")
            .field("hooks", &self.hooks.len())
            .field("approvals", &self.approvals)
            .field("access", &self.access.is_some())
            .finish()
    }
}
