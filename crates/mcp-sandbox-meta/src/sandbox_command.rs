//! The command that runs a program under the authority of a call.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::process::Command;

use crate::sandbox_metadata::SandboxMetadata;

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
use unix as platform;
#[cfg(windows)]
use windows as platform;

/// A command confined by the launcher (S7): `[codexExecutable, "sandbox", "--sandbox-state-json", <state>, "--",
/// program, arguments...]`.
///
/// The launcher is the one that the host named, by its absolute path; none is searched for. The state is one argument,
/// as it was received. The child runs in the working directory that the state names, and its exit status is passed
/// on. What stands behind the `--` may come from the arguments of a tool; nothing before it does.
///
/// ```
/// # #[cfg(unix)] {
/// use mcp_sandbox_meta::{SandboxCommand, SandboxCommandError, SandboxMetadata};
/// use serde_json::value::RawValue;
///
/// let meta: &RawValue = serde_json::from_str(
///     r#"{"codex/sandbox-state": {"n": 1}, "codex/sandbox-launcher": {"codexExecutable": "/opt/codex"}}"#,
/// )?;
/// let metadata = SandboxMetadata::from_meta(meta)?;
/// let command = SandboxCommand::new(metadata.as_ref(), "make")?.arg("test");
/// assert!(command.argv().eq(["/opt/codex", "sandbox", "--sandbox-state-json", r#"{"n": 1}"#, "--", "make", "test"]));
/// let command: std::process::Command = command.into();
///
/// // A host that says nothing, or names no launcher: nothing runs.
/// let refused = SandboxCommand::new(None, "make");
/// assert!(matches!(refused, Err(SandboxCommandError::NoMetadata)));
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// `Debug` shows neither the state nor the arguments. That of [`Command`] shows both: do not log it.
#[derive(Clone)]
pub struct SandboxCommand {
    executable: OsString,
    args: Vec<OsString>,
    confined: bool,
}

/// Why there is no command. Nothing must run then.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SandboxCommandError {
    /// The host does not say under which authority the call was issued.
    #[error("the host sent no sandbox state with this call")]
    NoMetadata,
    /// The host sent a state and nothing that could apply it.
    #[error("the host named no sandbox launcher for this call")]
    NoLauncher,
    /// The operating system cannot pass the state on. Not even an opt-out helps: there is a policy.
    #[error("the sandbox state has {bytes} bytes, and one argument holds {limit}")]
    StateTooLarge {
        /// The size of the state.
        bytes: usize,
        /// The most that fits.
        limit: usize,
    },
}

impl SandboxCommand {
    /// `program` under the authority of the call that came with `metadata`.
    ///
    /// # Errors
    ///
    /// There is no metadata, no launcher, or the state is too large for an argument.
    pub fn new(
        metadata: Option<&SandboxMetadata>,
        program: impl AsRef<OsStr>,
    ) -> Result<Self, SandboxCommandError> {
        let metadata = metadata.ok_or(SandboxCommandError::NoMetadata)?;
        let launcher = metadata.launcher().ok_or(SandboxCommandError::NoLauncher)?;
        let state = metadata.state().as_raw().get();
        if state.len() > platform::LONGEST_ARGUMENT {
            return Err(SandboxCommandError::StateTooLarge {
                bytes: state.len(),
                limit: platform::LONGEST_ARGUMENT,
            });
        }
        let program = program.as_ref();
        let args = ["sandbox", "--sandbox-state-json", state, "--"].map(OsString::from);
        let mut args = Vec::from(args);
        args.push(program.to_owned());
        Ok(Self {
            executable: launcher.codex_executable().into(),
            args,
            confined: true,
        })
    }

    /// As [`new`](Self::new), but where there is no launcher the program runs **without any sandbox**.
    ///
    /// Only for servers whose operator has asked for it in their own configuration, by a flag or a variable with a name
    /// that says so. Never because a request, a tool's arguments or the absence of a launcher seems to allow it. With
    /// a launcher there is no difference: the program is confined.
    ///
    /// # Errors
    ///
    /// There is a launcher, and the state is too large for an argument.
    pub fn new_or_unsandboxed_by_operator_opt_out(
        metadata: Option<&SandboxMetadata>,
        program: impl AsRef<OsStr>,
    ) -> Result<Self, SandboxCommandError> {
        match Self::new(metadata, &program) {
            Err(SandboxCommandError::NoMetadata | SandboxCommandError::NoLauncher) => Ok(Self {
                executable: program.as_ref().to_owned(),
                args: Vec::new(),
                confined: false,
            }),
            decided => decided,
        }
    }

    /// Adds an argument for the program.
    #[must_use]
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().to_owned());
        self
    }

    /// Adds arguments for the program.
    #[must_use]
    pub fn args(mut self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        let args = args.into_iter().map(|arg| arg.as_ref().to_owned());
        self.args.extend(args);
        self
    }

    /// What is executed: the launcher's path or, by opt-out, the program, and the arguments.
    pub fn argv(&self) -> impl Iterator<Item = &OsStr> {
        std::iter::once(&self.executable)
            .chain(&self.args)
            .map(OsString::as_os_str)
    }

    /// Whether the launcher is in it; `false` only after an operator's opt-out.
    #[must_use]
    pub fn is_confined(&self) -> bool {
        self.confined
    }
}

impl From<SandboxCommand> for Command {
    fn from(command: SandboxCommand) -> Self {
        let mut of_std = Self::new(command.executable);
        of_std.args(command.args);
        of_std
    }
}

#[cfg(feature = "tokio")]
impl From<SandboxCommand> for tokio::process::Command {
    fn from(command: SandboxCommand) -> Self {
        Command::from(command).into()
    }
}

impl fmt::Debug for SandboxCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SandboxCommand")
            .field("executable", &self.executable)
            .field("confined", &self.confined)
            .finish_non_exhaustive()
    }
}
