//! [`Failure`]: why a command stopped, with what a person needs to go on.

use std::io;
use std::path::{Path, PathBuf};

use mcp_runtime::{
    BuildError, CallError, ErrorChain, ErrorCode, PrepareError, QueryError, ServerState,
    ServerStatus, StartupError,
};

use crate::arguments::ArgumentsError;
use crate::config_file::ConfigFileError;
use crate::exit::ExitStatus;
use crate::interrupt::Interrupt;
use crate::screen;
use crate::target::TargetError;

/// Why a command stopped. Each case has its exit status, and its message says what to do.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error(transparent)]
    Config(#[from] ConfigFileError),
    #[error(transparent)]
    Arguments(#[from] ArgumentsError),
    #[error(transparent)]
    Target(#[from] TargetError),
    #[error("the configuration cannot be used")]
    Build(#[from] BuildError),
    #[error("server `{server}` is disabled in {}: remove `enabled` there, or set it to true", .config.display())]
    Disabled { server: String, config: PathBuf },
    #[error(transparent)]
    Startup(std::sync::Arc<StartupError>),
    #[error("server `{server}` is not connected: {why}")]
    NotConnected { server: String, why: String },
    #[error(transparent)]
    Prepare(#[from] PrepareError),
    #[error(transparent)]
    Call(#[from] Box<CallError>),
    #[error(transparent)]
    Query(#[from] Box<QueryError>),
    #[error("cannot listen for signals")]
    Signals(#[source] io::Error),
    #[error("cannot write the result to stdout")]
    Output(#[source] io::Error),
    #[error("the demo cannot be set up")]
    Demo(#[source] io::Error),
    #[error("interrupted")]
    Interrupted(Interrupt),
}

impl Failure {
    /// Why a server cannot be asked, if so.
    pub(crate) fn absent(status: &ServerStatus, config: &Path) -> Option<Self> {
        let server = || status.key().to_string();
        Some(match status.state() {
            ServerState::Failed { error, .. } => Self::Startup(error.clone()),
            ServerState::Disconnected(outage) => Self::NotConnected {
                server: server(),
                why: outage.to_string(),
            },
            ServerState::Disabled => Self::Disabled {
                server: server(),
                config: config.to_owned(),
            },
            _ => return None,
        })
    }

    /// The exit status; the one place where failures become numbers.
    pub(crate) fn status(&self) -> ExitStatus {
        match self {
            Self::Config(_)
            | Self::Arguments(_)
            | Self::Target(_)
            | Self::Build(_)
            | Self::Disabled { .. }
            | Self::Prepare(_) => ExitStatus::Usage,
            Self::Call(error) => Self::status_of(error.code()),
            Self::Query(error) => Self::status_of(error.code()),
            Self::Startup(_) | Self::NotConnected { .. } => ExitStatus::Server,
            Self::Signals(_) | Self::Output(_) | Self::Demo(_) => ExitStatus::System,
            Self::Interrupted(interrupt) => ExitStatus::Interrupted(*interrupt),
        }
    }

    fn status_of(code: ErrorCode) -> ExitStatus {
        match code {
            ErrorCode::RequestTimeout => ExitStatus::Timeout,
            // Only the configuration denies what was typed.
            ErrorCode::InvalidRequest | ErrorCode::Blocked => ExitStatus::Usage,
            _ => ExitStatus::Server,
        }
    }

    /// Tells a person on stderr.
    pub(crate) fn tell(&self) {
        if matches!(self, Self::Interrupted(_)) {
            // Who asked for it knows.
            return;
        }
        match self {
            // Through the pointer, so that it is recognised and says what to try.
            Self::Startup(error) => screen::error(ErrorChain(error.as_ref())),
            _ => screen::error(ErrorChain(self)),
        }
        match self {
            Self::Startup(error) => screen::stderr_tail(error.stderr_tail()),
            Self::Call(error) => {
                let disconnect = error.request().and_then(|request| request.disconnect());
                screen::stderr_tail(disconnect.map_or("", |disconnect| disconnect.stderr_tail()));
                if error.code() == ErrorCode::RequestTimeout {
                    screen::note(
                        "give the call more time with --timeout SECONDS, or with `tool_timeout_sec` in the configuration",
                    );
                }
            }
            Self::Prepare(_) => screen::note("`mcp-runtime tools` lists the tools there are"),
            _ => {}
        }
    }
}
