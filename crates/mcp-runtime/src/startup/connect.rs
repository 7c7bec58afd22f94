//! Which era a server speaks, found out by asking (R5).
//!
//! A process is asked for the legacy era first and an endpoint for the modern one, since that is what most of each kind
//! speak. Some servers lock to the era of the first message, and some exit on a message they do not know: so the other
//! era is tried with a new process, after the first one is gone. What was found out is remembered.

use std::path::PathBuf;
use std::time::Duration;

use dashmap::DashMap;

use super::Starter;
use super::error::Failure;
use crate::config::{Era, Transport};
use crate::connection::{ConnectError, Connection, Launch, Process, RequestErrorKind, SpokenEra};
use crate::deadline::Deadline;
use crate::event::RuntimeEvent;
use crate::slot::Slot;

/// How long an endpoint may take to answer in the era that is tried first, when there is another to try.
const PROBE_TIMEOUT: Duration = Duration::from_secs(5);
/// What a probe leaves of the startup's budget.
const PROBE_SHARE: u32 = 2;

/// Eras that servers were found to speak, by what was launched.
#[derive(Debug, Default)]
pub(crate) struct EraMemory {
    eras: DashMap<Fingerprint, SpokenEra>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Fingerprint {
    Process {
        program: String,
        args: Vec<String>,
        cwd: Option<PathBuf>,
    },
    Endpoint {
        url: String,
    },
}

/// A server that has been agreed with, and its process.
pub(super) struct Connected {
    pub(super) connection: Connection,
    pub(super) process: Option<Process>,
}

/// An attempt in one era that came to nothing.
struct Attempt {
    error: ConnectError,
    process: Option<Process>,
}

impl Starter {
    /// Connects in the era configured, or in whichever the server speaks.
    pub(super) async fn connect(
        &self,
        slot: &Slot,
        deadline: &Deadline,
    ) -> Result<Connected, Failure> {
        let fingerprint = Fingerprint::of(slot);
        let (first, only) = match slot.config.configured_era() {
            Era::Legacy => (SpokenEra::Legacy, true),
            Era::Modern => (SpokenEra::Modern, true),
            Era::Auto => (self.eras.first(&fingerprint), false),
        };
        let failed = match self.attempt(slot, first, only, deadline).await {
            Ok(connected) => return Ok(connected),
            Err(attempt) if only || !attempt.may_speak_another(first) => {
                return Err(attempt.failure());
            }
            Err(attempt) => attempt,
        };
        if let Some(process) = &failed.process {
            process.kill();
            deadline
                .bound(process.ended())
                .await
                .map_err(|elapsed| Failure::connect(ConnectError::Timeout(elapsed)))?;
        }
        let second = first.other();
        self.connector.events.state(RuntimeEvent::Retrying {
            server: slot.key.clone(),
            era: second,
        });
        match self.attempt(slot, second, true, deadline).await {
            Ok(connected) => {
                self.eras.eras.insert(fingerprint, second);
                Ok(connected)
            }
            // Nearly every server speaks the legacy era, so what it said in that one is what helps.
            Err(_) if first == SpokenEra::Legacy => Err(failed.failure()),
            Err(attempt) => Err(attempt.failure()),
        }
    }

    async fn attempt(
        &self,
        slot: &Slot,
        era: SpokenEra,
        last: bool,
        deadline: &Deadline,
    ) -> Result<Connected, Attempt> {
        match slot.config.transport() {
            Transport::Stdio(stdio) => {
                let launch = Launch::new(stdio, slot.cwd.as_deref());
                let alone = |error| Attempt {
                    error,
                    process: None,
                };
                let spawned = self.connector.spawn(&slot.key, &launch).map_err(alone)?;
                let process = spawned.process().clone();
                self.processes.add(process.clone());
                match spawned.shake_hands(era, deadline).await {
                    Ok(connection) => Ok(Connected {
                        connection,
                        process: Some(process),
                    }),
                    Err(error) => Err(Attempt {
                        error,
                        process: Some(process),
                    }),
                }
            }
            Transport::Http(http) => {
                let probe =
                    Deadline::after((deadline.remaining() / PROBE_SHARE).min(PROBE_TIMEOUT));
                let deadline = if last { deadline } else { &probe };
                match self.connector.http(&slot.key, http, era, deadline).await {
                    Ok(connection) => Ok(Connected {
                        connection,
                        process: None,
                    }),
                    Err(error) => Err(Attempt {
                        error,
                        process: None,
                    }),
                }
            }
        }
    }
}

impl EraMemory {
    fn first(&self, fingerprint: &Fingerprint) -> SpokenEra {
        let usual = match fingerprint {
            Fingerprint::Process { .. } => SpokenEra::Legacy,
            Fingerprint::Endpoint { .. } => SpokenEra::Modern,
        };
        self.eras.get(fingerprint).map_or(usual, |era| *era)
    }
}

impl Fingerprint {
    fn of(slot: &Slot) -> Self {
        match slot.config.transport() {
            Transport::Stdio(stdio) => Self::Process {
                program: stdio.command.clone(),
                args: stdio.args.clone(),
                cwd: stdio.cwd.clone().or_else(|| slot.cwd.clone()),
            },
            Transport::Http(http) => Self::Endpoint {
                url: http.url.to_string(),
            },
        }
    }
}

impl Attempt {
    /// Whether the failure may mean that the server speaks the other era only.
    fn may_speak_another(&self, tried: SpokenEra) -> bool {
        match &self.error {
            ConnectError::Request(error) => matches!(
                error.kind(),
                RequestErrorKind::Rpc(_)
                    | RequestErrorKind::Closed(_)
                    | RequestErrorKind::Refused(_)
            ),
            ConnectError::Version(_) => true,
            ConnectError::Initialize(error) => !error.is_authorization_required(),
            ConnectError::Timeout(_) => tried == SpokenEra::Modern,
            ConnectError::Spawn(_) | ConnectError::HttpSetup(_) | ConnectError::Encode(_) => false,
        }
    }

    fn failure(self) -> Failure {
        Failure::connect(self.error).of(self.process)
    }
}
