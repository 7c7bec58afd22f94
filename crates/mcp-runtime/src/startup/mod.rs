//! From a configuration to a connected, listed server, under one deadline (R1, R2).

mod error;
mod scope;

use std::sync::Arc;
use std::time::Duration;

use mcp_catalog::{Fetched, JoinError, SharedListings, Sharing};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

pub use error::{Phase, StartupError, StartupErrorKind};

use crate::chain::ErrorChain;
use crate::config::Transport;
use crate::connection::{Connection, Connector, Launch};
use crate::deadline::Deadline;
use crate::event::RuntimeEvent;
use crate::listing;
use crate::process_table::ProcessTable;
use crate::slot::{Slot, SlotState};
use crate::tool::Tool;
use error::Failure;

/// How long a refresh may take.
const REFRESH_TIMEOUT: Duration = Duration::from_secs(30);
/// The pause between two refreshes that follow each other; doubled while the server goes on saying that it changed.
const REFRESH_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_REFRESH_PAUSE: Duration = Duration::from_secs(10);

/// What all startups of a runtime share.
#[derive(Debug, Clone)]
pub(crate) struct Starter {
    pub(crate) connector: Connector,
    pub(crate) listings: SharedListings<Tool>,
    pub(crate) processes: Arc<ProcessTable>,
    pub(crate) stop: CancellationToken,
}

/// A started server.
struct Started {
    connection: Arc<Connection>,
    shared: bool,
}

impl Starter {
    /// Starts one server, and looks after it until it is gone.
    pub(crate) async fn run(self, slot: Arc<Slot>) {
        let events = self.connector.events.clone();
        events.state(RuntimeEvent::Starting {
            server: slot.key.clone(),
        });
        let begun = Instant::now();
        let deadline = Deadline::after(slot.config.startup_budget());
        let started = tokio::select! {
            biased;
            () = self.stop.cancelled() => None,
            started = self.start(&slot, &deadline) => Some(started),
        };
        let elapsed = begun.elapsed();
        match started {
            None => {
                slot.set(SlotState::Cancelled);
                events.state(RuntimeEvent::Cancelled {
                    server: slot.key.clone(),
                });
            }
            Some(Err(failure)) => self.failed(&slot, failure, elapsed).await,
            Some(Ok(Started { connection, shared })) => {
                slot.set(SlotState::Ready {
                    connection: connection.clone(),
                    elapsed,
                    shared,
                });
                events.state(RuntimeEvent::Ready {
                    server: slot.key.clone(),
                    tools: slot.offered(&connection),
                    era: connection.facts().era(),
                    elapsed,
                    shared,
                });
                self.look_after(&slot, &connection).await;
            }
        }
    }

    async fn start(&self, slot: &Slot, deadline: &Deadline) -> Result<Started, Failure> {
        match slot.config.transport() {
            Transport::Stdio(stdio) => {
                let launch = Launch::new(stdio, slot.cwd.as_deref());
                let spawned = self
                    .connector
                    .spawn(&slot.key, &launch)
                    .map_err(Failure::connect)?;
                let process = spawned.process().clone();
                self.processes.add(process.clone());
                let started = async {
                    let connection = spawned
                        .initialize(deadline)
                        .await
                        .map_err(Failure::connect)?;
                    self.list(slot, connection, deadline).await
                };
                started.await.map_err(|failure| failure.of(process))
            }
            Transport::Http(http) => {
                let connection = self
                    .connector
                    .http(&slot.key, http, deadline)
                    .await
                    .map_err(Failure::connect)?;
                self.list(slot, connection, deadline).await
            }
        }
    }

    /// The first listing, joined with those of other startups of the same scope (C1).
    async fn list(
        &self,
        slot: &Slot,
        connection: Connection,
        deadline: &Deadline,
    ) -> Result<Started, Failure> {
        let sharing = if slot.config.shares_listing() {
            Sharing::Shared
        } else {
            Sharing::OptedOut
        };
        let scope = scope::of(slot, &connection, &self.connector);
        let ticket = connection.catalog().begin();
        let fetch = || async {
            let listed = listing::tools(&connection, deadline, &self.connector.events).await?;
            Ok(if listed.cut_short {
                Fetched::cut_short(listed.tools)
            } else {
                Fetched::complete(listed.tools)
            })
        };
        let listing = self
            .listings
            .join(&scope, sharing, deadline.at(), fetch)
            .await
            .map_err(|error| match error {
                JoinError::Fetch(error) => Failure::listing(error),
                JoinError::Timeout(error) => Failure::waiting(error, deadline.elapsed()),
            })?;
        let shared = listing.origin().is_shared();
        // Nothing was published on this connection before, so nothing can be newer.
        let _ = connection.catalog().publish(ticket, listing.into_items());
        Ok(Started {
            connection: Arc::new(connection),
            shared,
        })
    }

    async fn failed(&self, slot: &Slot, failure: Failure, elapsed: Duration) {
        let error = Arc::new(failure.into_error(slot).await);
        self.connector.events.state(RuntimeEvent::Failed {
            server: slot.key.clone(),
            code: error.code(),
            message: ErrorChain(&*error).to_string(),
            stderr_tail: error.stderr_tail().to_owned(),
        });
        slot.set(SlotState::Failed { error, elapsed });
    }

    /// Refreshes the catalog when the server says that it changed, until the connection is over.
    async fn look_after(&self, slot: &Slot, connection: &Arc<Connection>) {
        let why = tokio::select! {
            biased;
            () = self.stop.cancelled() => return,
            why = connection.closed() => why,
            () = self.refresh_when_due(slot, connection) => return,
        };
        slot.set(SlotState::Disconnected { why: why.clone() });
        if !why.is_local() {
            let server = slot.key.clone();
            self.connector.events.state(RuntimeEvent::Disconnected {
                server,
                message: why.to_string(),
            });
        }
    }

    /// Never ends by itself. A server that announces a change after every listing is asked less and less often.
    async fn refresh_when_due(&self, slot: &Slot, connection: &Connection) {
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
    ) -> Result<(), crate::RequestError> {
        let events = &self.connector.events;
        let before = connection.catalog().snapshot();
        let ticket = connection.catalog().begin();
        let fetched = listing::tools(connection, deadline, events).await?;
        let published = connection.catalog().publish(ticket, fetched.tools);
        let after = connection.catalog().snapshot();
        let same = before.items().len() == after.items().len()
            && before
                .items()
                .iter()
                .zip(after.items())
                .all(|(before, after)| before.is_same(after));
        if published.is_ok() && !same {
            events.state(RuntimeEvent::CatalogChanged {
                server: slot.key.clone(),
                tools: slot.offered(connection),
            });
        }
        Ok(())
    }

    /// An explicit refresh; how many tools there are then.
    pub(crate) async fn refresh(
        &self,
        slot: &Slot,
        connection: &Connection,
    ) -> Result<usize, crate::RequestError> {
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
