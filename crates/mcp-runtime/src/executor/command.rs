//! The far side of a command: a container, a pod, another machine.

use std::env::{self, VarError};
use std::fmt;
use std::path::Path;

use mcp_sandbox_meta::EnvironmentLocality;

use super::{ExecutorError, Quoting};
use crate::config::StdioTransport;
use crate::connection::Launch;

/// A command that runs what follows it somewhere else, and connects the streams: `ssh box --`, `docker exec -i c`,
/// `kubectl exec -i pod --` (R4).
///
/// A server's `cwd` and variables are set over there, with `env -C DIR NAME=VALUE... command`, by GNU coreutils 8.28 or any
/// other `env` that knows `-C`. Where the working directory is the command's to set (`docker exec -w DIR`), that needs
/// nothing of the far side. The value of such a variable stands in argument lists here and there: it is passed on only for
/// servers that say [`env_in_argv`](crate::StdioTransport::env_in_argv).
///
/// The command itself is a child of this process like any other, with all of its tree (R6). What is on the far side is out
/// of reach: it sees the end of its input.
///
/// `Debug` shows the program, since arguments may be secrets.
#[derive(Clone, PartialEq, Eq)]
pub struct CommandExecutor {
    program: String,
    args: Vec<String>,
    env_vars: Vec<String>,
    quoting: Quoting,
}

/// A command without a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the command of an executor begins with a program, such as `[\"ssh\", \"box\", \"--\"]`")]
pub struct EmptyCommand;

impl CommandExecutor {
    /// A command: a program, looked up in `PATH` unless it contains a path, and its arguments. What is to run over there
    /// follows them.
    ///
    /// # Errors
    ///
    /// When there is no program.
    pub fn new(
        argv: impl IntoIterator<Item = impl Into<String>>,
        quoting: Quoting,
    ) -> Result<Self, EmptyCommand> {
        let mut argv = argv.into_iter().map(Into::into);
        let program = argv.next().filter(|program| !program.trim().is_empty());
        Ok(Self {
            program: program.ok_or(EmptyCommand)?,
            args: argv.collect(),
            env_vars: Vec::new(),
            quoting,
        })
    }

    /// Passes a variable of this process on to the command itself, if it is set, such as `SSH_AUTH_SOCK` or `KUBECONFIG`.
    /// It inherits only a short list otherwise (R6). Servers on the far side do not get it.
    #[must_use]
    pub fn env_var(mut self, name: impl Into<String>) -> Self {
        self.env_vars.push(name.into());
        self
    }

    pub(super) fn program(&self) -> &str {
        &self.program
    }

    pub(super) fn words(&self) -> Vec<&str> {
        let args = self.args.iter().map(String::as_str);
        [self.quoting.as_str(), &self.program]
            .into_iter()
            .chain(args)
            .collect()
    }

    pub(super) fn launch(
        &self,
        stdio: &StdioTransport,
        cwd: Option<&Path>,
    ) -> Result<Launch, ExecutorError> {
        let words = words(stdio, cwd)?;
        let args = self.args.iter().cloned();
        Ok(Launch {
            program: self.program.clone(),
            args: args.chain(self.quoting.carry(words)).collect(),
            env: Vec::new(),
            env_passed: self.env_vars.clone(),
            cwd: None,
            locality: EnvironmentLocality::Remote,
        })
    }
}

/// What is run on the far side, word by word.
fn words(stdio: &StdioTransport, cwd: Option<&Path>) -> Result<Vec<String>, ExecutorError> {
    let mut words = env_words(stdio, cwd)?;
    let command = &stdio.command;
    if !words.is_empty() {
        if command.starts_with('-') || command.contains('=') {
            let command = command.clone();
            return Err(ExecutorError::Command { command });
        }
        words.insert(0, "env".to_owned());
    }
    words.push(command.clone());
    words.extend(stdio.args.iter().cloned());
    Ok(words)
}

/// What `env` is told; nothing when it is not needed.
fn env_words(stdio: &StdioTransport, cwd: Option<&Path>) -> Result<Vec<String>, ExecutorError> {
    let names = stdio.env.iter().map(|(name, _)| name);
    let names: Vec<&String> = names.chain(&stdio.env_vars).collect();
    if let Some(name) = names.first().filter(|_| !stdio.env_in_argv) {
        let name = (*name).clone();
        return Err(ExecutorError::EnvInArgv { name });
    }
    let unfit = |name: &&&String| name.is_empty() || name.starts_with('-') || name.contains('=');
    if let Some(name) = names.iter().find(unfit) {
        let name = (*name).clone();
        return Err(ExecutorError::VariableName { name });
    }
    let mut words = Vec::new();
    if let Some(cwd) = cwd {
        let not_utf8 = || ExecutorError::NotUtf8 {
            what: format!("the working directory `{}`", cwd.display()),
        };
        let cwd = cwd.to_str().ok_or_else(not_utf8)?;
        words.extend(["-C".to_owned(), cwd.to_owned()]);
    }
    // As on this machine, what is set wins over what is passed on: `env` believes the last one.
    for name in &stdio.env_vars {
        match env::var(name) {
            Ok(value) => words.push(format!("{name}={value}")),
            Err(VarError::NotPresent) => {}
            Err(VarError::NotUnicode(_)) => {
                let what = format!("the value of the variable `{name}`");
                return Err(ExecutorError::NotUtf8 { what });
            }
        }
    }
    let set = stdio.env.iter();
    words.extend(set.map(|(name, value)| format!("{name}={}", value.reveal())));
    Ok(words)
}

impl fmt::Debug for CommandExecutor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CommandExecutor")
            .field("program", &self.program)
            .field("args", &self.args.len())
            .field("env_vars", &self.env_vars)
            .field("quoting", &self.quoting)
            .finish()
    }
}

#[cfg(test)]
mod tests;
