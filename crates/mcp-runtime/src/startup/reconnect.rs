//! One server for as long as its runtime lives: looked after, and connected again when its connection ends (R10).

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::backoff::Backoff;
use super::{Started, Starter};
use crate::chain::ErrorChain;
use crate::connection::Disconnect;
use crate::event::RuntimeEvent;
use crate::outage::Outage;
use crate::slot::{Slot, SlotState};

impl Starter {
    /// Looks after a server and whatever replaces it, until the runtime ends or the policy says that it stays gone.
    pub(super) async fn keep(&self, slot: &Slot, mut started: Started) {
        let mut backoff = Backoff::new(self.reconnect);
        loop {
            let Started {
                connection,
                subscription,
                ..
            } = started;
            let connected = Instant::now();
            let session = slot.recorder.session(&connection.facts().protocol_version);
            let why = self.look_after(slot, &connection, subscription).await;
            if !why.is_local() {
                session.lost();
            }
            backoff.lasted(connected.elapsed());
            let outage = self.disconnected(slot, why);
            if !outage.is_reconnecting() {
                // A binding may keep it, and would go on using it.
                connection.abandon();
                return;
            }
            let before = connection.catalog().snapshot();
            // Bindings may keep it; calls on it fail.
            drop(connection);
            let Some(again) = self.connect_again(slot, outage, &mut backoff).await else {
                return;
            };
            self.tell_change(slot, &before, &again.connection);
            started = again;
        }
    }

    fn disconnected(&self, slot: &Slot, why: Arc<Disconnect>) -> Outage {
        // What this side ended is neither a loss nor wanted any more.
        let is_lost = !why.is_local();
        let outage = Outage::new(why, is_lost && self.reconnect.is_on());
        slot.set(SlotState::Disconnected(outage.clone()));
        if is_lost {
            self.connector.events.state(RuntimeEvent::Disconnected {
                server: slot.key.clone(),
                message: outage.why().to_string(),
                stderr_tail: outage.stderr_tail().to_owned(),
                reconnecting: outage.is_reconnecting(),
            });
        }
        outage
    }

    /// Attempts a whole startup after every pause, until one succeeds; `None` when the runtime ends first. Only that one
    /// is told: what fails meanwhile changes nothing.
    async fn connect_again(
        &self,
        slot: &Slot,
        mut outage: Outage,
        backoff: &mut Backoff,
    ) -> Option<Started> {
        loop {
            self.rest(slot, backoff.pause()).await?;
            let (started, elapsed) = self.attempt(slot).await?;
            match started {
                Ok(started) => {
                    self.reconnected(slot, &started, elapsed, outage.failed_attempts() + 1);
                    return Some(started);
                }
                Err(failure) => {
                    let error = failure.into_error(slot).await;
                    tracing::warn!(server = %slot.key, error = %ErrorChain(&error), "not reconnected yet");
                    outage = outage.after(error);
                    slot.set(SlotState::Disconnected(outage.clone()));
                }
            }
        }
    }

    /// Waits before an attempt, at least until nothing is left of the one before: two processes of one server could get
    /// in each other's way. `None` when the runtime ends first.
    async fn rest(&self, slot: &Slot, pause: Duration) -> Option<()> {
        tokio::select! {
            biased;
            () = self.stop.cancelled() => None,
            ((), ()) = async { tokio::join!(sleep(pause), self.processes.end(&slot.key)) } => Some(()),
        }
    }

    fn reconnected(&self, slot: &Slot, started: &Started, elapsed: Duration, attempts: u32) {
        slot.set(started.ready(elapsed));
        let connection = &started.connection;
        self.connector.events.state(RuntimeEvent::Reconnected {
            server: slot.key.clone(),
            tools: slot.offered(connection),
            era: connection.facts().era,
            elapsed,
            shared: started.shared,
            attempts,
        });
    }
}
