//! What a runtime of a session asks whoever runs it about its calls.

use mcp_runtime::{ApprovalPolicy, McpRuntime, McpRuntimeBuilder};
use serde::Deserialize;

use super::access::Accesses;
use super::approval::Approvals;
use super::caller::Caller;
use super::hook::Hooks;

/// `handlers`: those that whoever runs the session wants to be.
#[derive(Debug, Default, Deserialize)]
#[serde(transparent)]
pub(super) struct Handlers(Vec<Handler>);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Handler {
    HookBefore,
    HookAfter,
    Approval,
    Access,
}

impl Handlers {
    fn has(&self, handler: Handler) -> bool {
        self.0.contains(&handler)
    }

    /// A builder with these handlers. Without the one for approvals whoever runs the session has authority over every
    /// call, having asked for it. A tool that is to be asked for by its mode is denied: there is nobody else to ask.
    pub(super) fn builder(&self, caller: &Caller) -> McpRuntimeBuilder {
        let policy = if self.has(Handler::Approval) {
            ApprovalPolicy::ask(Approvals(caller.clone()))
        } else {
            ApprovalPolicy::approve_all()
        };
        let mut builder = McpRuntime::builder(policy);
        let (before, after) = (self.has(Handler::HookBefore), self.has(Handler::HookAfter));
        if before || after {
            let caller = caller.clone();
            builder = builder.hook(Hooks {
                caller,
                before,
                after,
            });
        }
        if self.has(Handler::Access) {
            builder = builder.access(Accesses(caller.clone()));
        }
        builder
    }
}
