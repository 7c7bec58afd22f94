//! How a connection ended, for the people who want to know why their call failed.

use std::fmt;

use super::process::Exit;

/// The end of a connection.
///
/// Shared by every call that was in flight when it ended.
#[derive(Debug, Clone, thiserror::Error)]
pub struct Disconnect {
    cause: Cause,
    stderr_tail: String,
}

#[derive(Debug, Clone)]
enum Cause {
    /// We closed it.
    Local,
    /// The process ended.
    Exited(Exit),
    /// The process is there, but its output is not.
    OutputClosed,
    /// The process is there, but reads nothing any more.
    InputClosed,
}

impl Disconnect {
    pub(crate) fn local() -> Self {
        Self {
            cause: Cause::Local,
            stderr_tail: String::new(),
        }
    }

    pub(crate) fn exited(exit: Exit, stderr_tail: String) -> Self {
        Self {
            cause: Cause::Exited(exit),
            stderr_tail,
        }
    }

    pub(crate) fn output_closed(stderr_tail: String) -> Self {
        Self {
            cause: Cause::OutputClosed,
            stderr_tail,
        }
    }

    pub(crate) fn input_closed(stderr_tail: String) -> Self {
        Self {
            cause: Cause::InputClosed,
            stderr_tail,
        }
    }

    /// Whether this side closed the connection.
    #[must_use]
    pub fn is_local(&self) -> bool {
        matches!(self.cause, Cause::Local)
    }

    /// How the process ended, where that is why.
    #[must_use]
    pub fn exit(&self) -> Option<Exit> {
        match self.cause {
            Cause::Exited(exit) => Some(exit),
            _ => None,
        }
    }

    /// The last lines of the server's standard error; empty when there were none.
    #[must_use]
    pub fn stderr_tail(&self) -> &str {
        &self.stderr_tail
    }
}

impl fmt::Display for Disconnect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.cause {
            Cause::Local => f.write_str("the connection was closed by this side"),
            Cause::Exited(exit) => write!(f, "the server process {exit}"),
            Cause::OutputClosed => f.write_str("the server closed its standard output"),
            Cause::InputClosed => f.write_str("the server closed its standard input"),
        }
    }
}
