//! How a call ended.

use std::fmt;

use mcp_runtime::{CallError, ErrorCode, ToolOutput};
use serde_json::Value;

/// The one ending of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Ending {
    /// With its own answer.
    Answered,
    /// Its caller went away.
    Dropped,
    Failed(ErrorCode),
    /// With the answer to another call. Never.
    Mistaken,
    /// Not at all. Never.
    Lost,
}

impl Ending {
    /// Servers answer with what they were asked, the number of the call in it.
    pub(crate) fn of(nonce: usize, outcome: &Result<ToolOutput, CallError>) -> Self {
        match outcome {
            Ok(output) => {
                let asked: Value = serde_json::from_str(&output.text()).unwrap_or_default();
                let is_own = asked["arguments"]["nonce"] == nonce;
                if is_own {
                    Self::Answered
                } else {
                    Self::Mistaken
                }
            }
            Err(error) => Self::Failed(error.code()),
        }
    }
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(code) => f.pad(code.as_str()),
            other => f.pad(match other {
                Self::Answered => "answered",
                Self::Dropped => "dropped",
                Self::Mistaken => "ANSWERED WITH ANOTHER'S",
                _ => "LOST",
            }),
        }
    }
}
