//! Elicitations that wait for whoever runs the session.

use mcp_runtime::{
    Elicitation, ElicitationAnswer, ElicitationHandler, ElicitationMode, HandlerFuture,
    McpServerKey, SandboxState,
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::caller::Caller;
use super::question::Questions;
use crate::report::ErrorReport;

/// `elicit_reply`.
#[derive(Debug, Deserialize)]
pub(super) struct Reply {
    elicitation: u64,
    action: Action,
    content: Option<Box<RawValue>>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Action {
    Accept,
    Decline,
    Cancel,
}

impl Reply {
    pub(super) fn answer(
        self,
        elicitations: &Questions<ElicitationAnswer>,
    ) -> Result<(), ErrorReport> {
        elicitations.answer(self.elicitation, || match (self.action, self.content) {
            (Action::Accept, Some(content)) => ElicitationAnswer::accept_with(content)
                .map_err(|error| ErrorReport::invalid_because(&error)),
            (Action::Accept, None) => Ok(ElicitationAnswer::accept()),
            (Action::Decline, _) => Ok(ElicitationAnswer::decline()),
            (Action::Cancel, _) => Ok(ElicitationAnswer::cancel()),
        })
    }
}

/// The line that asks.
#[derive(Serialize)]
struct Event<'a> {
    event: &'static str,
    elicitation: u64,
    #[serde(flatten)]
    server: &'a McpServerKey,
    #[serde(skip_serializing_if = "Option::is_none")]
    call: Option<Box<RawValue>>,
    permissions: Permitted<'a>,
    message: &'a str,
    #[serde(flatten)]
    mode: Mode<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    runtime: Option<&'a str>,
}

/// What the environment of the server allows.
#[derive(Serialize)]
struct Permitted<'a> {
    elicitation: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    sandbox_state: Option<&'a SandboxState>,
}

#[derive(Serialize)]
#[serde(tag = "mode", rename_all = "snake_case")]
enum Mode<'a> {
    Form { schema: &'a RawValue },
    Url { url: &'a str },
}

/// Asks what servers want to know.
pub(super) struct Elicitations(pub(super) Caller);

impl ElicitationHandler for Elicitations {
    fn elicit(&self, elicitation: Elicitation) -> HandlerFuture<'_, ElicitationAnswer> {
        Box::pin(self.ask(elicitation))
    }
}

impl Elicitations {
    async fn ask(&self, elicitation: Elicitation) -> ElicitationAnswer {
        let Self(caller) = self;
        let mode = match elicitation.mode() {
            ElicitationMode::Form { schema } => Mode::Form { schema },
            ElicitationMode::Url { url, .. } => Mode::Url { url: url.as_str() },
            // A way of asking that this program does not know yet.
            _ => return ElicitationAnswer::decline(),
        };
        let question = caller.open.elicitations.open();
        let permissions = elicitation.permissions();
        let event = Event {
            event: "elicitation",
            elicitation: question.number(),
            server: elicitation.server(),
            call: elicitation.call().and_then(|call| caller.request(call)),
            permissions: Permitted {
                elicitation: permissions.elicitation().as_str(),
                sandbox_state: permissions.sandbox_state(),
            },
            message: elicitation.message(),
            mode,
            runtime: caller.runtime.as_deref(),
        };
        caller.output.line(&event).await;
        let answer = question.answered().await;
        answer.unwrap_or_else(ElicitationAnswer::cancel)
    }
}
