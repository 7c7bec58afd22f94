//! Why a server cannot be started behind a command.

/// What a server's configuration asks for cannot be had on the far side of a command (R4). No value is shown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExecutorError {
    /// A variable would stand in the arguments of the command, and so in process lists here and there.
    #[error(
        "the variable `{name}` would be set on the far side of a command, where its value shows in process lists; write \
         `\"env_in_argv\": true` in the server's entry to accept that, or set the variable over there"
    )]
    EnvInArgv {
        /// The first such variable.
        name: String,
    },
    /// A variable cannot be set through `env`.
    #[error("`{name}` is no name of a variable that `env` can set")]
    VariableName {
        /// Its name.
        name: String,
    },
    /// A command would be taken by `env` for something else.
    #[error(
        "command `{command}` cannot be started with a directory or variables of its own: `env` takes what begins with `-` \
         for an option and what has `=` in it for a variable"
    )]
    Command {
        /// The configured command.
        command: String,
    },
    /// Something cannot be written into an argument.
    #[error("{what} is not UTF-8, and cannot be passed on to the far side of a command")]
    NotUtf8 {
        /// What it is.
        what: String,
    },
}
