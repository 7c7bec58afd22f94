//! [`ExitStatus`]: what the program's exit status says. It is part of the interface: scripts branch on it.

use std::fmt::Write as _;
use std::process::ExitCode;

use crate::interrupt::Interrupt;

/// How the program ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExitStatus {
    /// Everything asked for was done.
    Ok,
    /// The tool reported an error, or a step of the demo went wrong.
    ToolError,
    /// The command line, the configuration or the arguments are wrong; nothing was sent to a tool.
    Usage,
    /// A server that is needed could not be started, or a call failed on the way.
    Server,
    /// The call ran into its time limit.
    Timeout,
    /// The system refused something that has nothing to do with servers.
    System,
    /// Ended on request.
    Interrupted(Interrupt),
}

/// Every status with its meaning, as `--help` shows them.
const MEANINGS: [(ExitStatus, &str); 9] = [
    (
        ExitStatus::Ok,
        "done; for `tools`: no required server failed, and not all of them",
    ),
    (
        ExitStatus::ToolError,
        "the tool reported an error; for `demo`: a step went wrong",
    ),
    (
        ExitStatus::Usage,
        "wrong usage, configuration or arguments, or no such tool",
    ),
    (
        ExitStatus::Server,
        "a server that is needed could not be started, or the call failed on the way",
    ),
    (ExitStatus::Timeout, "the call ran into its time limit"),
    (
        ExitStatus::System,
        "the system refused, such as writing the result to a full disk",
    ),
    (
        ExitStatus::Interrupted(Interrupt::Keyboard),
        "interrupted (Ctrl-C); the servers were ended",
    ),
    (
        ExitStatus::Interrupted(Interrupt::Terminate),
        "terminated (SIGTERM); the servers were ended",
    ),
    (
        ExitStatus::Interrupted(Interrupt::Hangup),
        "the terminal has gone (SIGHUP); the servers were ended",
    ),
];

impl ExitStatus {
    /// The number.
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Ok => 0,
            Self::ToolError => 1,
            Self::Usage => 2,
            Self::Server => 3,
            Self::Timeout => 4,
            Self::System => 5,
            // 128 and the number of the signal, as shells have it.
            Self::Interrupted(Interrupt::Keyboard) => 130,
            Self::Interrupted(Interrupt::Terminate) => 143,
            Self::Interrupted(Interrupt::Hangup) => 129,
        }
    }

    /// The part of `--help` that lists every status.
    pub(crate) fn help() -> String {
        let mut help = String::from("Exit status:\n");
        for (status, meaning) in MEANINGS {
            // Writing to a string does not fail.
            let _ = writeln!(help, "  {:>3}  {meaning}", status.code());
        }
        help
    }
}

impl From<ExitStatus> for ExitCode {
    fn from(status: ExitStatus) -> Self {
        Self::from(status.code())
    }
}
