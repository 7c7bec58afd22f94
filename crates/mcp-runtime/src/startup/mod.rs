//! From a configuration to a connected, listed server, under one deadline (R1, R2).

mod advice;
mod backoff;
mod connect;
mod eras;
mod error;
mod policy;
mod reconnect;
mod route;
mod scope;
mod upkeep;

use std::sync::Arc;
use std::time::Duration;

use mcp_catalog::{Fetched, JoinError, Origin, SharedListings, Sharing};
use mcp_telemetry::{ListingJoin, ListingOrigin, Telemetry};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

pub(crate) use eras::KnownEras;
pub use error::{Phase, StartupError, StartupErrorKind};
pub use policy::ReconnectPolicy;

use crate::chain::ErrorChain;
use crate::connection::{Connection, Connector, Subscription};
use crate::deadline::Deadline;
use crate::event::RuntimeEvent;
use crate::listing;
use crate::process_table::ProcessTable;
use crate::slot::{Slot, SlotState};
use crate::tool::Tool;
use connect::Connected;
use error::Failure;
use route::Route;

/// What all startups of a runtime share.
#[derive(Debug, Clone)]
pub(crate) struct Starter {
    pub(crate) connector: Connector,
    pub(crate) listings: SharedListings<Tool>,
    pub(crate) eras: KnownEras,
    pub(crate) reconnect: ReconnectPolicy,
    pub(crate) telemetry: Telemetry,
    pub(crate) processes: Arc<ProcessTable>,
    pub(crate) stop: CancellationToken,
}

/// A started server.
#[derive(Debug)]
struct Started {
    connection: Arc<Connection>,
    /// Opened before the listing, so that no change after it goes unannounced.
    subscription: Option<Subscription>,
    shared: bool,
}

impl Started {
    fn origin(&self) -> ListingOrigin {
        if self.shared {
            ListingOrigin::Shared
        } else {
            ListingOrigin::Fetched
        }
    }

    fn ready(&self, elapsed: Duration) -> SlotState {
        SlotState::Ready {
            connection: self.connection.clone(),
            elapsed,
            shared: self.shared,
        }
    }
}

/// Settles a slot that nobody will start or reconnect any more: the runtime ends, the task panicked, or its executor
/// went.
struct Settles(Arc<Slot>);

impl Drop for Settles {
    fn drop(&mut self) {
        match self.0.state() {
            SlotState::Starting => self.0.set(SlotState::Cancelled),
            SlotState::Disconnected(outage) if outage.is_reconnecting() => {
                self.0.set(SlotState::Disconnected(outage.given_up()));
            }
            _ => {}
        }
    }
}

impl Starter {
    /// Starts one server, looks after it and reconnects it, until the runtime ends. Whatever becomes of the future, the slot settles.
    pub(crate) fn run(self, slot: Arc<Slot>) -> impl Future<Output = ()> + Send {
        let settles = Settles(slot.clone());
        async move {
            self.run_in(slot).await;
            drop(settles);
        }
    }

    async fn run_in(self, slot: Arc<Slot>) {
        let events = self.connector.events.clone();
        events.state(RuntimeEvent::Starting {
            server: slot.key.clone(),
        });
        match self.attempt(&slot).await {
            None => {
                slot.set(SlotState::Cancelled);
                events.state(RuntimeEvent::Cancelled {
                    server: slot.key.clone(),
                });
            }
            Some((Err(failure), elapsed)) => self.failed(&slot, failure, elapsed).await,
            Some((Ok(started), elapsed)) => {
                slot.set(started.ready(elapsed));
                events.state(RuntimeEvent::Ready {
                    server: slot.key.clone(),
                    tools: slot.offered(&started.connection),
                    era: started.connection.facts().era,
                    elapsed,
                    shared: started.shared,
                });
                self.keep(&slot, started).await;
            }
        }
    }

    /// One whole startup under a deadline of its own, and how long it took; `None` when the runtime ends first. It is
    /// recorded, however it ends.
    async fn attempt(&self, slot: &Slot) -> Option<(Result<Started, Failure>, Duration)> {
        let begun = Instant::now();
        let deadline = Deadline::after(slot.config.startup_budget());
        let recording = slot.recorder.startup();
        let starting = self.start(slot, &deadline).instrument(recording.span());
        let started = tokio::select! {
            biased;
            () = self.stop.cancelled() => return None,
            started = starting => started,
        };
        match &started {
            Ok(started) => {
                let facts = started.connection.facts();
                recording.ready(started.origin(), &facts.protocol_version);
            }
            Err(failure) => recording.failed(failure.code()),
        }
        Some((started, begun.elapsed()))
    }

    async fn start(&self, slot: &Slot, deadline: &Deadline) -> Result<Started, Failure> {
        let route = Route::to(slot).map_err(Failure::executor)?;
        let Connected {
            connection,
            process,
        } = self.connect(slot, &route, deadline).await?;
        let started = self.list(slot, &route, connection, deadline).await;
        started.map_err(|failure| failure.of(process))
    }

    /// The first listing, joined with those of other startups of the same scope (C1).
    async fn list(
        &self,
        slot: &Slot,
        route: &Route<'_>,
        connection: Connection,
        deadline: &Deadline,
    ) -> Result<Started, Failure> {
        let sharing = if slot.config.shares_listing() {
            Sharing::Shared
        } else {
            Sharing::OptedOut
        };
        let subscription = self.subscribe(slot, &connection, deadline).await?;
        let scope = scope::of(slot, route, &connection, &self.connector);
        let ticket = connection.catalog().begin();
        let fetch = || async {
            let listed = listing::tools(&connection, deadline, &self.connector.events).await?;
            Ok(if listed.is_cut_short() {
                Fetched::cut_short(listed.into_items())
            } else {
                Fetched::complete(listed.into_items())
            })
        };
        let joining = self.listings.join(&scope, sharing, deadline.at(), fetch);
        let listing = tokio::select! {
            biased;
            listing = joining => listing,
            // A listing of somebody else's is no use to a connection that is gone.
            why = connection.closed() => return Err(Failure::closed(why)),
        };
        let listing = listing.map_err(|error| match error {
            JoinError::Fetch(error) => Failure::listing(error),
            JoinError::Timeout(error) => Failure::waiting(error, deadline.elapsed()),
        })?;
        slot.recorder.joined(join(listing.origin()));
        let shared = listing.origin().is_shared();
        // Nothing was published on this connection before, so nothing can be newer.
        let _ = connection.catalog().publish(ticket, listing.into_items());
        Ok(Started {
            connection: Arc::new(connection),
            subscription,
            shared,
        })
    }

    async fn failed(&self, slot: &Slot, failure: Failure, elapsed: Duration) {
        let error = Arc::new(failure.into_error(slot).await);
        slot.set(SlotState::Failed {
            error: error.clone(),
            elapsed,
        });
        self.connector.events.state(RuntimeEvent::Failed {
            server: slot.key.clone(),
            code: error.code(),
            message: ErrorChain(&*error).to_string(),
            stderr_tail: error.stderr_tail().to_owned(),
        });
    }
}

fn join(origin: Origin) -> ListingJoin {
    match origin {
        Origin::Led => ListingJoin::Led,
        Origin::Shared => ListingJoin::Shared,
        Origin::TookOver | Origin::BackedUp => ListingJoin::Retried,
        // Whatever else there may be shares with nobody.
        _ => ListingJoin::OptedOut,
    }
}
