//! When a scripted server process departs from what a correct server does.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::action::Action;

/// What fires a rule.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Trigger {
    Start,
    End,
    Message(String),
}

/// Actions and the event that fires them. Of the rules that fit an event the first one added runs, and only that one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[must_use = "a rule does nothing until a script has it"]
pub struct Rule {
    on: Trigger,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tool: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    times: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    in_process: Option<usize>,
    run: Vec<Action>,
}

impl Rule {
    fn new(on: Trigger, run: impl IntoIterator<Item = Action>) -> Self {
        Self {
            on,
            tool: None,
            times: None,
            in_process: None,
            run: run.into_iter().collect(),
        }
    }

    /// Runs before the first message is read; reading begins when it is through.
    pub fn at_start(run: impl IntoIterator<Item = Action>) -> Self {
        Self::new(Trigger::Start, run)
    }

    /// Runs at the end of stdin, where the server would exit with status 0: with no actions it stays.
    pub fn at_end(run: impl IntoIterator<Item = Action>) -> Self {
        Self::new(Trigger::End, run)
    }

    /// Runs for each request or notification with this method.
    pub fn on(method: impl Into<String>, run: impl IntoIterator<Item = Action>) -> Self {
        Self::new(Trigger::Message(method.into()), run)
    }

    /// Runs for each `tools/call` of this tool, listed or not.
    pub fn on_tool(tool: impl Into<String>, run: impl IntoIterator<Item = Action>) -> Self {
        Self {
            tool: Some(tool.into()),
            ..Self::on("tools/call", run)
        }
    }

    /// Runs only so many times in one process; after that the next rule that fits has its turn.
    pub fn times(mut self, times: u64) -> Self {
        self.times = Some(times);
        self
    }

    /// Runs only in the `number`th process started from the same [`ServerProcess`](crate::ServerProcess), counted from 1.
    pub fn in_process(mut self, number: usize) -> Self {
        self.in_process = Some(number);
        self
    }

    pub(crate) fn actions(&self) -> &[Action] {
        &self.run
    }

    pub(crate) fn fits(&self, event: Event<'_>, fired: u64, process: usize) -> bool {
        let fits_event = match (&self.on, event) {
            (Trigger::Start, Event::Start) | (Trigger::End, Event::End) => true,
            (Trigger::Message(wanted), Event::Message { method, params }) => {
                wanted == method
                    && self
                        .tool
                        .as_ref()
                        .is_none_or(|tool| params["name"] == tool.as_str())
            }
            _ => false,
        };
        fits_event
            && self.times.is_none_or(|times| fired < times)
            && self.in_process.is_none_or(|number| number == process)
    }
}

/// What happens to a scripted server process.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Event<'a> {
    Start,
    End,
    Message { method: &'a str, params: &'a Value },
}
