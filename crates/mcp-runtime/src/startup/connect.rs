//! Which era a server speaks, found out by asking (R5).
//!
//! A process is asked for the legacy era first and an endpoint for the modern one, since that is what most of each kind
//! speak. Some servers lock to the era of the first message, and some exit on a message they do not know: so the other
//! era is tried with a new process, after the first one is gone. What a server has spoken before is asked for first.

use std::time::Duration;

use super::Starter;
use super::error::Failure;
use super::route::{Route, Way};
use crate::config::Era;
use crate::connection::{
    ConnectError, Connection, HttpError, Process, RequestErrorKind, SpokenEra,
};
use crate::deadline::{Deadline, Elapsed};
use crate::event::RuntimeEvent;
use crate::slot::{Slot, SlotState};

/// How long an endpoint may take to answer in the era that is tried first, when there is another to try.
const PROBE_TIMEOUT: Duration = Duration::from_secs(5);
/// How long a process that refused an era may take to end before it is killed.
const PROBE_PATIENCE: Duration = Duration::from_secs(2);
/// What a probe leaves of the startup's budget.
const PROBE_SHARE: u32 = 2;

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

/// Why an era is the first that is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reason {
    Configured,
    SpokenBefore,
    /// Most servers of its kind speak it.
    Likely,
}

impl Starter {
    /// Connects in the era configured, or in whichever the server speaks; which one that was is remembered.
    pub(super) async fn connect(
        &self,
        slot: &Slot,
        route: &Route<'_>,
        deadline: &Deadline,
    ) -> Result<Connected, Failure> {
        let connected = self.negotiate(slot, route, deadline).await?;
        let era = connected.connection.facts().era;
        self.eras.remember(&route.transport, era);
        Ok(connected)
    }

    async fn negotiate(
        &self,
        slot: &Slot,
        route: &Route<'_>,
        deadline: &Deadline,
    ) -> Result<Connected, Failure> {
        let (first, reason) = self.first_era(slot, route);
        let only = reason == Reason::Configured;
        let failed = match self.ask(slot, route, first, only, deadline).await {
            Ok(connected) => return Ok(connected),
            Err(attempt) if only || deadline.has_passed() || !attempt.may_speak_another(first) => {
                return Err(attempt.failure());
            }
            Err(attempt) => attempt,
        };
        if let Some(process) = &failed.process {
            end(process, deadline).await.map_err(Failure::out_of_time)?;
        }
        let second = first.other();
        // What becomes of a server that reconnects is told once it has.
        if slot.look(|state| matches!(state, SlotState::Starting)) {
            self.connector.events.state(RuntimeEvent::Retrying {
                server: slot.key.clone(),
                era: second,
            });
        }
        match self.ask(slot, route, second, true, deadline).await {
            Ok(connected) => Ok(connected),
            // What a server said in the era it is known to speak is what helps. Nearly every one speaks the legacy era.
            Err(_) if reason == Reason::SpokenBefore || first == SpokenEra::Legacy => {
                Err(failed.failure())
            }
            Err(attempt) => Err(attempt.failure()),
        }
    }

    fn first_era(&self, slot: &Slot, route: &Route<'_>) -> (SpokenEra, Reason) {
        match (slot.config.configured_era(), &route.way) {
            (Era::Legacy, _) => (SpokenEra::Legacy, Reason::Configured),
            (Era::Modern, _) => (SpokenEra::Modern, Reason::Configured),
            (Era::Auto, way) => match (self.eras.of(&route.transport), way) {
                (Some(era), _) => (era, Reason::SpokenBefore),
                (None, Way::Stdio(_)) => (SpokenEra::Legacy, Reason::Likely),
                (None, Way::Http(_)) => (SpokenEra::Modern, Reason::Likely),
            },
        }
    }

    async fn ask(
        &self,
        slot: &Slot,
        route: &Route<'_>,
        era: SpokenEra,
        last: bool,
        deadline: &Deadline,
    ) -> Result<Connected, Attempt> {
        let probe = Deadline::after((deadline.remaining() / PROBE_SHARE).min(PROBE_TIMEOUT));
        let patience = slot.config.interaction_patience();
        let (stranger, process, deadline) = match &route.way {
            Way::Stdio(launch) => {
                let spawning = self.connector.spawn(&slot.key, launch, patience);
                let process = spawning.process().clone();
                self.processes.add(&slot.key, process.clone());
                (spawning.started(deadline).await, Some(process), deadline)
            }
            Way::Http(http) => {
                // Time tells only that an endpoint does not speak the modern era.
                let deadline = if last || era == SpokenEra::Legacy {
                    deadline
                } else {
                    &probe
                };
                let stranger = self.connector.http(&slot.key, http, era, patience);
                (stranger, None, deadline)
            }
        };
        let connection = match stranger {
            Ok(stranger) => stranger.shake_hands(era, deadline).await,
            Err(error) => Err(error),
        };
        match connection {
            Ok(connection) => Ok(Connected {
                connection,
                process,
            }),
            Err(error) => Err(Attempt { error, process }),
        }
    }
}

/// Ends the first process before the second one is started: it gets some time to end in its own way.
async fn end(process: &Process, deadline: &Deadline) -> Result<(), Elapsed> {
    process.stop();
    let patience = Deadline::after((deadline.remaining() / PROBE_SHARE).min(PROBE_PATIENCE));
    if patience.bound(process.ended()).await.is_err() {
        process.kill();
        deadline.bound(process.ended()).await?;
    }
    Ok(())
}

impl Attempt {
    /// Whether the failure may mean that the server speaks the other era only.
    fn may_speak_another(&self, tried: SpokenEra) -> bool {
        match &self.error {
            ConnectError::Request(error) => match error.kind() {
                RequestErrorKind::Rpc(_)
                | RequestErrorKind::Closed(_)
                | RequestErrorKind::Refused(_) => true,
                // An endpoint may do anything with a question that it does not know.
                RequestErrorKind::Timeout(_)
                | RequestErrorKind::Malformed(_)
                | RequestErrorKind::Unexpected(_) => tried == SpokenEra::Modern,
                // Who it is does not depend on the era, nor whether it is there.
                RequestErrorKind::Http(HttpError::Unauthorized { .. }) => false,
                RequestErrorKind::Http(error) => !error.is_unreachable(),
                RequestErrorKind::Encode(_)
                | RequestErrorKind::Input(_)
                | RequestErrorKind::RoundsExceeded { .. } => false,
            },
            ConnectError::Version(_) => true,
            ConnectError::HttpSetup(_)
            | ConnectError::Spawn(_)
            | ConnectError::Timeout(_)
            | ConnectError::Encode(_) => false,
        }
    }

    fn failure(self) -> Failure {
        Failure::connect(self.error).of(self.process)
    }
}
