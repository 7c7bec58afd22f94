//! Hooks of whoever runs the session (H1).

use mcp_runtime::{
    CallError, CallOutcome, EnvironmentId, FailureOutcome, HandlerFuture, HookOutput, Invocation,
    McpServerKey, ServerName, ToolHook, ToolOutput,
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::answer::outcome;
use super::caller::Caller;
use super::question::Questions;
use crate::report::ErrorReport;

/// Asks before calls, after them, or both.
pub(super) struct Hooks {
    pub(super) caller: Caller,
    pub(super) before: bool,
    pub(super) after: bool,
}

/// `hook_reply`.
#[derive(Debug, Deserialize)]
pub(super) struct Reply {
    request: u64,
    #[serde(default)]
    arguments: Option<Box<RawValue>>,
    deny: Option<String>,
    #[serde(default)]
    context: Option<Box<RawValue>>,
    server: Option<String>,
    environment_id: Option<String>,
}

/// A reply that can be followed. Whose call it names, it names by halves.
#[derive(Debug)]
pub(super) struct Answer {
    output: HookOutput,
    server: Option<ServerName>,
    environment: Option<EnvironmentId>,
}

impl Reply {
    pub(super) fn answer(self, hooks: &Questions<Answer>) -> Result<(), ErrorReport> {
        hooks.answer(self.request, || self.read())
    }

    fn read(self) -> Result<Answer, ErrorReport> {
        let mut output = match self.deny {
            Some(message) => HookOutput::deny(message),
            None => HookOutput::proceed(),
        };
        if let Some(arguments) = self.arguments {
            output = output.arguments(arguments);
        }
        if let Some(context) = self.context {
            output = output.context(context);
        }
        let server = self.server.map(ServerName::new).transpose();
        let environment = self.environment_id.map(EnvironmentId::new).transpose();
        Ok(Answer {
            output,
            server: server.map_err(|error| ErrorReport::invalid_because(&error))?,
            environment: environment.map_err(|error| ErrorReport::invalid_because(&error))?,
        })
    }
}

impl Answer {
    /// The output for a call of this server. What the reply does not name stays as it is.
    fn output(self, own: &McpServerKey) -> HookOutput {
        let Self {
            output,
            server,
            environment,
        } = self;
        if server.is_none() && environment.is_none() {
            return output;
        }
        let name = server.unwrap_or_else(|| own.name().clone());
        let environment = environment.or_else(|| own.environment().cloned());
        output.owner(match environment {
            Some(environment) => McpServerKey::in_environment(environment, name),
            None => McpServerKey::host(name),
        })
    }
}

#[derive(Serialize)]
struct Details<'a> {
    when: &'static str,
    arguments: &'a RawValue,
    #[serde(flatten)]
    end: Option<End<'a>>,
}

/// What became of a call.
#[derive(Serialize)]
#[serde(untagged)]
enum End<'a> {
    Answered {
        outcome: &'static str,
        result: &'a RawValue,
    },
    Failed {
        outcome: FailureOutcome,
        error: ErrorReport,
    },
}

impl<'a> End<'a> {
    fn of(ended: CallOutcome<'a>) -> Self {
        match ended {
            Ok(output) => Self::answered(output),
            Err(error) => Self::failed(error),
        }
    }

    fn answered(output: &'a ToolOutput) -> Self {
        Self::Answered {
            outcome: outcome(output),
            result: output.raw(),
        }
    }

    fn failed(error: &CallError) -> Self {
        Self::Failed {
            outcome: error.code().outcome(),
            error: ErrorReport::of_call(error),
        }
    }
}

impl ToolHook for Hooks {
    fn before(&self, call: Invocation) -> HandlerFuture<'_, HookOutput> {
        Box::pin(async move {
            if !self.before {
                return HookOutput::proceed();
            }
            let details = Details {
                when: "before",
                arguments: call.arguments(),
                end: None,
            };
            let hooks = &self.caller.open.hooks;
            let answer = self.caller.ask("hook", &call, details, hooks).await;
            answer.map_or_else(
                || HookOutput::deny("the session has ended"),
                |answer| answer.output(call.server()),
            )
        })
    }

    fn after<'a>(&'a self, call: Invocation, ended: CallOutcome<'a>) -> HandlerFuture<'a, ()> {
        Box::pin(async move {
            if !self.after {
                return;
            }
            let details = Details {
                when: "after",
                arguments: call.arguments(),
                end: Some(End::of(ended)),
            };
            // Whatever is replied, it is too late to change anything.
            let hooks = &self.caller.open.hooks;
            let _ = self.caller.ask("hook", &call, details, hooks).await;
        })
    }
}
