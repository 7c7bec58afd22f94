//! Which era a server speaks, found out by asking (R5).
//!
//! A process is asked for the legacy era first and an endpoint for the modern one, since that is what most of each kind
//! speak. Some servers lock to the era of the first message, and some exit on a message they do not know: so the other
//! era is tried with a new process, after the first one is gone. What a server has spoken before is asked for first.

use std::time::Duration;

use futures_util::future::{Either, select};
use tokio::time::timeout;

use super::Starter;
use super::error::Failure;
use super::route::{Route, Way};
use crate::config::Era;
use crate::connection::{
    ConnectError, Connection, HttpError, Interview, Process, RequestErrorKind, SpokenEra,
};
use crate::deadline::{Deadline, Elapsed};
use crate::event::RuntimeEvent;
use crate::slot::{Slot, SlotState};

/// How long an endpoint may take to answer in the modern era before it is asked in the legacy one too.
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
        let mut asking = Box::pin(self.ask(slot, route, first, deadline));
        let patience = match &route.way {
            // Time tells only that an endpoint may not speak the modern era: it is asked in the other one beside that.
            Way::Http(_) if first == SpokenEra::Modern && !only => {
                (deadline.remaining() / PROBE_SHARE).min(PROBE_TIMEOUT)
            }
            _ => Duration::MAX,
        };
        let failed = match timeout(patience, &mut asking).await {
            Ok(Ok(connected)) => return Ok(connected),
            Ok(Err(attempt))
                if only || deadline.has_passed() || !attempt.may_speak_another(first) =>
            {
                return Err(attempt.failure());
            }
            Ok(Err(attempt)) => Some(attempt),
            Err(_slow) => None,
        };
        let second = first.other();
        if let Some(process) = failed.as_ref().and_then(|failed| failed.process.as_ref()) {
            end(process, deadline).await.map_err(Failure::out_of_time)?;
        }
        self.tell_of_another(slot, second);
        let beside = Box::pin(self.ask(slot, route, second, deadline));
        let failed = match failed {
            Some(failed) => match beside.await {
                Ok(connected) => return Ok(connected),
                Err(attempt) => (failed, attempt),
            },
            None => match both(asking, beside).await {
                Ok(connected) => return Ok(connected),
                Err(failed) => failed,
            },
        };
        // What a server said in the era it is known to speak is what helps. Nearly every one speaks the legacy era.
        let (of_first, of_second) = failed;
        let known = reason == Reason::SpokenBefore || first == SpokenEra::Legacy;
        let (likely, other) = match known {
            true => (of_first, of_second),
            false => (of_second, of_first),
        };
        // One that names its versions was understood.
        let says_more = other.names_version() && !likely.names_version();
        Err(if says_more { other } else { likely }.failure())
    }

    /// What becomes of a server that reconnects is told once it has.
    fn tell_of_another(&self, slot: &Slot, era: SpokenEra) {
        if slot.look(|state| matches!(state, SlotState::Starting)) {
            let server = slot.key.clone();
            let events = &self.connector.events;
            events.state(RuntimeEvent::Retrying { server, era });
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
        deadline: &Deadline,
    ) -> Result<Connected, Attempt> {
        let interview = Interview {
            owner: slot.owner.environment(),
            patience: slot.config.interaction_patience(),
        };
        let (stranger, process) = match &route.way {
            Way::Stdio(launch) => {
                let spawning = self.connector.spawn(&slot.key, launch, interview);
                let process = spawning.process().clone();
                self.processes.add(&slot.key, process.clone());
                (spawning.started(deadline).await, Some(process))
            }
            Way::Http(http) => {
                let stranger = self.connector.http(&slot.key, http, era, interview);
                (stranger, None)
            }
        };
        let connection = match stranger {
            Ok(stranger) => stranger.shake_hands(era, deadline).await,
            Err(error) => Err(error),
        };
        match connection {
            Ok(connection) => Ok(Connected {
                connection: connection.recorded_by(&self.telemetry, &slot.recorder),
                process,
            }),
            Err(error) => Err(Attempt { error, process }),
        }
    }
}

/// Whichever attempt connects first; otherwise both.
async fn both<T, U>(first: T, second: U) -> Result<Connected, (Attempt, Attempt)>
where
    T: Future<Output = Result<Connected, Attempt>> + Unpin,
    U: Future<Output = Result<Connected, Attempt>> + Unpin,
{
    match select(first, second).await {
        Either::Left((Ok(connected), _)) | Either::Right((Ok(connected), _)) => Ok(connected),
        Either::Left((Err(of_first), second)) => {
            second.await.map_err(|of_second| (of_first, of_second))
        }
        Either::Right((Err(of_second), first)) => {
            first.await.map_err(|of_first| (of_first, of_second))
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
                | RequestErrorKind::Version(_)
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

    fn names_version(&self) -> bool {
        matches!(self.error, ConnectError::Version(_))
    }

    fn failure(self) -> Failure {
        Failure::connect(self.error).of(self.process)
    }
}
