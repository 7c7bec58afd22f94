//! What a connected server needs: to be listed again when it says that its tools changed (C8, C9).

use std::convert::Infallible;
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use mcp_catalog::CatalogSnapshot;
use tokio::time::{Instant, sleep};

use super::Starter;
use super::error::Failure;
use crate::chain::ErrorChain;
use crate::connection::{Connection, Disconnect, RequestError, Subscription};
use crate::deadline::Deadline;
use crate::event::RuntimeEvent;
use crate::listing;
use crate::slot::Slot;
use crate::tool::Tool;

/// How long a refresh may take.
const REFRESH_TIMEOUT: Duration = Duration::from_secs(30);
/// The pause between two refreshes that follow each other; doubled while the server goes on saying that it changed.
const REFRESH_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_REFRESH_PAUSE: Duration = Duration::from_secs(10);
/// The pause before a subscription that ended is opened again; doubled while it keeps ending.
const SUBSCRIPTION_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_SUBSCRIPTION_PAUSE: Duration = Duration::from_secs(60);

impl Starter {
    /// Refreshes the catalog when the server says that it changed, until the connection is over; how it ended. What is
    /// owed by then is owed no more.
    pub(super) async fn look_after(
        &self,
        slot: &Slot,
        connection: &Connection,
        subscription: Option<Subscription>,
    ) -> Arc<Disconnect> {
        let upkeep = async {
            tokio::join!(
                self.refresh_when_due(slot, connection),
                self.stay_subscribed(slot, connection, subscription),
            )
        };
        tokio::select! {
            biased;
            () = self.stop.cancelled() => Arc::new(Disconnect::local()),
            why = connection.closed() => why,
            (never, _) = upkeep => match never {},
        }
    }

    /// Asks for announcements; `None` when there are none to be had. Only time ends a startup.
    pub(super) async fn subscribe(
        &self,
        slot: &Slot,
        connection: &Connection,
        deadline: &Deadline,
    ) -> Result<Option<Subscription>, Failure> {
        match connection.subscribe(deadline).await {
            Ok(subscription) => Ok(subscription),
            Err(error) if error.elapsed().is_some() => Err(Failure::listing(error)),
            Err(error) => {
                not_announced(slot, &error);
                Ok(None)
            }
        }
    }

    /// Never ends by itself. A subscription that ended is opened again, and what may have been missed is listed. A
    /// server that refuses is asked no more.
    async fn stay_subscribed(
        &self,
        slot: &Slot,
        connection: &Connection,
        mut subscription: Option<Subscription>,
    ) -> Infallible {
        let mut pause = SUBSCRIPTION_PAUSE;
        while let Some(open) = subscription {
            let begun = Instant::now();
            let ended = connection.listen(open).await;
            if let Some(refusal) = ended.err().filter(|error| error.is_refusal()) {
                not_announced(slot, &refusal);
                break;
            }
            if begun.elapsed() > LONGEST_SUBSCRIPTION_PAUSE {
                pause = SUBSCRIPTION_PAUSE;
            }
            subscription = reopened(slot, connection, &mut pause).await;
            connection.refresh().request();
        }
        pending().await
    }

    /// Never ends by itself. A server that announces a change after every listing is asked less and less often.
    async fn refresh_when_due(&self, slot: &Slot, connection: &Connection) -> Infallible {
        let mut pause = REFRESH_PAUSE;
        let mut last = None::<Instant>;
        loop {
            let turn = connection.refresh().due().await;
            let keeps_changing = last.is_some_and(|last| last.elapsed() < pause);
            pause = if keeps_changing {
                (pause * 2).min(LONGEST_REFRESH_PAUSE)
            } else {
                REFRESH_PAUSE
            };
            match self
                .fetch(slot, connection, &Deadline::after(REFRESH_TIMEOUT))
                .await
            {
                Ok(()) => turn.pay(),
                // The debt stays and the last good listing too (C8); the next attempt comes after the pause.
                Err(error) => {
                    drop(turn);
                    tracing::warn!(server = %slot.key, error = %ErrorChain(&error), "the tools could not be listed again");
                }
            }
            sleep(pause).await;
            last = Some(Instant::now());
        }
    }

    /// Lists again on the connection's own account: a refresh never joins anybody (C2).
    async fn fetch(
        &self,
        slot: &Slot,
        connection: &Connection,
        deadline: &Deadline,
    ) -> Result<(), RequestError> {
        let events = &self.connector.events;
        let before = connection.catalog().snapshot();
        let ticket = connection.catalog().begin();
        let fetched = listing::tools(connection, deadline, events).await?;
        let published = connection.catalog().publish(ticket, fetched.into_items());
        if published.is_ok() {
            self.tell_change(slot, &before, connection);
        }
        Ok(())
    }

    /// Tells when a connection offers something else than was offered before.
    pub(super) fn tell_change(
        &self,
        slot: &Slot,
        before: &CatalogSnapshot<Tool>,
        connection: &Connection,
    ) {
        let after = connection.catalog().snapshot();
        let same = before.items().len() == after.items().len()
            && before
                .items()
                .iter()
                .zip(after.items())
                .all(|(before, after)| before.is_same(after));
        if !same {
            self.connector.events.state(RuntimeEvent::CatalogChanged {
                server: slot.key.clone(),
                tools: slot.offered(connection),
            });
        }
    }

    /// An explicit refresh; how many tools there are then.
    pub(crate) async fn refresh(
        &self,
        slot: &Slot,
        connection: &Connection,
    ) -> Result<usize, RequestError> {
        let deadline = Deadline::after(slot.config.startup_budget());
        let refreshing = connection
            .refresh()
            .refresh(|| self.fetch(slot, connection, &deadline));
        match deadline.bound(refreshing).await {
            Ok(refreshed) => refreshed.map(|_| slot.offered(connection)),
            Err(elapsed) => Err(listing::timed_out(elapsed)),
        }
    }
}

/// A new subscription, however long the server is not to be reached; `None` when it refuses.
async fn reopened(
    slot: &Slot,
    connection: &Connection,
    pause: &mut Duration,
) -> Option<Subscription> {
    loop {
        sleep(*pause).await;
        *pause = (*pause * 2).min(LONGEST_SUBSCRIPTION_PAUSE);
        match connection
            .subscribe(&Deadline::after(REFRESH_TIMEOUT))
            .await
        {
            Ok(subscription) => return subscription,
            Err(error) if error.is_refusal() => {
                not_announced(slot, &error);
                return None;
            }
            Err(error) => {
                tracing::debug!(server = %slot.key, error = %ErrorChain(&error), "no subscription yet");
            }
        }
    }
}

fn not_announced(slot: &Slot, error: &RequestError) {
    let error = ErrorChain(error);
    tracing::warn!(server = %slot.key, %error, "changes of the tools will not be announced");
}
