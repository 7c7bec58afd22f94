//! What a host does before and after its calls (H1).

use std::fmt;

use mcp_telemetry::ErrorCode;
use serde_json::value::RawValue;

use super::{Blocked, IntendedCall, ToolOutput};
use crate::elicitation::HandlerFuture;

/// Looks at calls before they are made, and at what came of them (H1).
///
/// Its time counts as the call's (B3). Hooks run one after the other, in the order in which they were added, each with the
/// arguments that the one before it left. No lock is held: a hook may call the runtime.
///
/// A function is a hook that looks before:
///
/// ```
/// use mcp_runtime::{ApprovalPolicy, ApprovalPolicy, HookAnswer, IntendedCall, McpRuntime};
///
/// let builder = McpRuntime::builder(ApprovalPolicy::approve_all()).hook(|call: IntendedCall| async move {
///     match call.key().tool().as_str() {
///         "drop_table" => HookAnswer::deny("not on this machine"),
///         _ => HookAnswer::proceed(),
///     }
/// });
/// # let _ = builder;
/// ```
pub trait ToolHook: Send + Sync + 'static {
    /// Decides on a call before anybody else does. A panic blocks the call.
    fn before(&self, call: IntendedCall) -> HandlerFuture<'_, HookAnswer> {
        drop(call);
        Box::pin(std::future::ready(HookAnswer::proceed()))
    }

    /// Sees what came of a call that was sent; what it says goes to the host beside the result. A hook for which no time is
    /// left when the result is there does not delay it, and is not asked.
    fn after<'a>(
        &'a self,
        call: IntendedCall,
        end: CallEnd<'a>,
    ) -> HandlerFuture<'a, Option<String>> {
        let _ = (call, end);
        Box::pin(std::future::ready(None))
    }
}

impl<F, A> ToolHook for F
where
    F: Fn(IntendedCall) -> A + Send + Sync + 'static,
    A: Future<Output = HookAnswer> + Send + 'static,
{
    fn before(&self, call: IntendedCall) -> HandlerFuture<'_, HookAnswer> {
        Box::pin(self(call))
    }
}

/// What came of a call.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum CallEnd<'a> {
    /// The tool answered; it may say that it failed.
    Answered(&'a ToolOutput),
    /// There is no result.
    Failed {
        /// The bounded code (T1).
        code: ErrorCode,
        /// What a person is told.
        message: &'a str,
    },
}

/// What a hook says of a call before it is made.
#[derive(Default)]
pub struct HookAnswer {
    arguments: Option<Box<RawValue>>,
    denial: Option<String>,
    context: Option<String>,
    server: Option<String>,
    environment_id: Option<String>,
}

impl HookAnswer {
    /// The call goes on as it is.
    #[must_use]
    pub fn proceed() -> Self {
        Self::default()
    }

    /// The call is not made, and this is why.
    #[must_use]
    pub fn deny(message: impl Into<String>) -> Self {
        Self {
            denial: Some(message.into()),
            ..Self::default()
        }
    }

    /// The call goes on with other arguments, a JSON object.
    #[must_use]
    pub fn arguments(mut self, arguments: Box<RawValue>) -> Self {
        self.arguments = Some(arguments);
        self
    }

    /// Gives the host a text to go with the result. The server does not see it.
    #[must_use]
    pub fn context(mut self, context: impl Into<String>) -> Self {
        self.context = Some(context.into());
        self
    }

    /// The server that the hook's own answer names, where it comes from outside: naming any but the call's own blocks the
    /// call.
    #[must_use]
    pub fn names_server(mut self, server: impl Into<String>) -> Self {
        self.server = Some(server.into());
        self
    }

    /// The environment that the hook's own answer names, as [`names_server`](Self::names_server).
    #[must_use]
    pub fn names_environment(mut self, id: impl Into<String>) -> Self {
        self.environment_id = Some(id.into());
        self
    }

    /// The call as it goes on, and the text for the host.
    pub(super) fn apply(
        self,
        call: IntendedCall,
    ) -> Result<(IntendedCall, Option<String>), Blocked> {
        let server = call.key().server();
        if let Some(named) = self.server.filter(|named| named != server.name().as_str()) {
            let named = format!("server `{named}`");
            return Err(Blocked::Moved { named });
        }
        let own = server.environment().map(mcp_keys::EnvironmentId::as_str);
        if let Some(named) = self.environment_id.filter(|named| Some(&**named) != own) {
            let named = format!("environment `{named}`");
            return Err(Blocked::Moved { named });
        }
        if let Some(message) = self.denial {
            return Err(Blocked::ByHook { message });
        }
        let call = match self.arguments {
            None => call,
            Some(arguments) if arguments.get().starts_with('{') => call.with_arguments(arguments),
            Some(_) => return Err(Blocked::HookArguments),
        };
        Ok((call, self.context))
    }
}

impl fmt::Debug for HookAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Arguments and texts may hold secrets.
        f.debug_struct("HookAnswer")
            .field("denies", &self.denial.is_some())
            .field("arguments", &self.arguments.is_some())
            .finish_non_exhaustive()
    }
}
