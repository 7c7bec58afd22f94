//! What a scripted server process can be told to do.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One step of a [`Rule`](crate::Rule). In a script file: `"echo"`, `{"exit": 3}`, `{"result": {"tools": []}}`.
///
/// The answering steps (`Result` to `Standard`) answer the request that fired the rule; a rule without one leaves it
/// unanswered, and a rule with two answers twice.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Action {
    /// Answers with a result.
    Result(Value),
    /// Answers with a result written exactly as given, JSON or not.
    ResultRaw(String),
    /// Answers with one text block of this many bytes.
    ResultOfSize(usize),
    /// Answers with one text block: the request's parameters as JSON.
    Echo,
    /// Answers with an error.
    Error {
        /// The code.
        code: i64,
        /// The message.
        message: String,
        /// The data; left out when `null`.
        data: Value,
    },
    /// Answers with an error written exactly as given.
    ErrorRaw(String),
    /// Answers as a correct server would.
    Standard,
    /// Sends any message. A string `"$id"` in it becomes the id of the request that fired the rule, `"$progressToken"` its
    /// progress token.
    Send(Value),
    /// Sends a request of the server's own and waits for the response, which the log then has.
    Ask {
        /// The method.
        method: String,
        /// The parameters; left out when `null`.
        params: Value,
    },
    /// Writes bytes to stdout, with `$id` replaced by the id; no line end is added. See [`Action::stdout`].
    Stdout(Vec<u8>),
    /// Writes a line to stderr.
    Stderr(String),
    /// Waits this many milliseconds; other messages are handled meanwhile. See [`Action::delay`].
    DelayMs(u64),
    /// Runs the steps several times over.
    Repeat(u64, Vec<Action>),
    /// Reads nothing any more, with stdin left open.
    StopReading,
    /// Reads nothing any more and closes stdin: the client's writes fail. Unix only.
    CloseInput,
    /// Closes stdout: the client reads EOF. Unix only.
    CloseOutput,
    /// Exits with this status, once what came before is written.
    Exit(u8),
    /// Ends itself without any clean-up: SIGKILL on Unix, an abort elsewhere.
    Kill,
    /// Does not end on SIGTERM from now on. Unix only.
    IgnoreSigterm,
    /// Starts a process that ignores SIGTERM and lives for ten minutes; its pid is in the log.
    SpawnGrandchild {
        /// It leads a process group of its own, out of reach of a signal to the server's group.
        own_group: bool,
        /// It keeps the server's stdout and stderr open, so they do not end with the server.
        holds_output: bool,
    },
}

impl Action {
    /// Writes bytes to stdout: noise, half a line, a BOM, invalid UTF-8, an answer no envelope fits.
    #[must_use]
    pub fn stdout(bytes: impl AsRef<[u8]>) -> Self {
        Self::Stdout(bytes.as_ref().to_vec())
    }

    /// Waits; whole milliseconds count.
    #[must_use]
    pub fn delay(duration: Duration) -> Self {
        Self::DelayMs(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX))
    }
}
