//! One listing for all startups that overlap.

use std::fmt;
use std::future::{Future, poll_fn};
use std::ops::ControlFlow;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Poll, ready};
use std::time::Duration;

use tokio::time::{Instant, sleep_until, timeout_at};

use crate::flight::{Act, Flights, Seat};
use crate::listing::{Fetched, Listing, Origin};
use crate::patience::Patience;
use crate::scope::DiscoveryScope;

/// Whether a startup shares listings with others (rule C6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Sharing {
    /// Take part: fetch for others, or take what another fetched.
    #[default]
    Shared,
    /// Neither fetch for others nor wait for them.
    OptedOut,
}

/// Listings in the making, shared by all startups of a process that hold a clone of this handle
/// (rule C0).
///
/// Cloning is cheap, and dropping a clone ends nothing. Only what is being fetched is kept: a
/// finished listing leaves at once, and a later startup fetches again (rule C2).
pub struct SharedListings<T> {
    flights: Arc<Flights<T>>,
}

/// Why a startup has no listing. It is always the startup's own failure, never another's (rule C4).
#[derive(Debug, thiserror::Error)]
pub enum JoinError<E> {
    /// The startup's own fetch failed.
    #[error("could not list what the server offers")]
    Fetch(#[source] E),
    /// The startup's own deadline ended first (rule C3).
    #[error(transparent)]
    Timeout(#[from] JoinTimeout),
}

/// The deadline of a startup ended before it had a listing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "no listing within {budget:?}, {waited:?} of it spent waiting for other startups: allow the startup more time or opt out of sharing"
)]
pub struct JoinTimeout {
    waited: Duration,
    budget: Duration,
}

impl<T> SharedListings<T> {
    /// Listings shared by nobody yet.
    #[must_use]
    pub fn new() -> Self {
        Self {
            flights: Arc::new(Flights::new()),
        }
    }

    /// Gets the listing of a scope: by `fetch`, or from a startup that overlaps with this one.
    ///
    /// The startup begins with this call, not with the first poll of the future, and overlaps with
    /// every listing of the same scope that has not finished by then. Before `deadline` it ends with a
    /// listing or with the error of its own fetch; the time spent waiting counts (rule C3).
    ///
    /// `fetch` lists over the caller's own connection. It is called at most once, inside the returned
    /// future, and never in a spawned task: by the startup polled first, by one that takes over when
    /// the fetch of another failed or was dropped (rule C4), and by one that no longer trusts a fetch
    /// that has run for half of its time (rule C4b). The future of `fetch` is dropped when the listing
    /// of another startup comes first, and when the deadline ends.
    ///
    /// A startup whose own fetch fails ends with that error at once, also when it was a backup and the
    /// fetch before it goes on. Nothing here knows the caller's connection: one that may die while it
    /// waits is to be watched beside the returned future.
    ///
    /// Dropping the returned future leaves at any point, and others carry on. A `fetch` that itself
    /// joins the same scope waits for itself, until rule C4b ends that after half of the inner
    /// startup's time; it does not deadlock, and is better avoided.
    ///
    /// # Errors
    ///
    /// [`JoinError::Fetch`] when this startup's own fetch failed, [`JoinError::Timeout`] when its
    /// deadline ended first.
    ///
    /// # Panics
    ///
    /// The future panics when it is polled outside of a tokio runtime with its clock enabled.
    pub fn join<F, Fut, E>(
        &self,
        scope: &DiscoveryScope,
        sharing: Sharing,
        deadline: Instant,
        fetch: F,
    ) -> impl Future<Output = Result<Listing<T>, JoinError<E>>> + use<T, F, Fut, E>
    where
        F: FnOnce() -> Fut,
        Fut: Future<Output = Result<Fetched<T>, E>>,
    {
        let patience = Patience::new(Instant::now(), deadline);
        let takes_part = sharing == Sharing::Shared && scope.is_shareable();
        let seat = takes_part.then(|| self.flights.take_seat(scope));
        async move {
            match seat {
                Some(seat) => attend(seat, patience, fetch).await,
                None => fetch_alone(patience, Duration::ZERO, fetch).await,
            }
        }
    }

    /// How many listings are being fetched or about to be.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.flights.open()
    }
}

/// One startup in a flight, from its first poll to its end.
async fn attend<T, F, Fut, E>(
    mut seat: Seat<T>,
    patience: Patience,
    fetch: F,
) -> Result<Listing<T>, JoinError<E>>
where
    F: FnOnce() -> Fut,
    Fut: Future<Output = Result<Fetched<T>, E>>,
{
    let act = wait_for_act(&mut seat, patience).await;
    let waited = patience.spent(Instant::now());
    let role = match act {
        Act::Fetch(role) => role,
        Act::FetchAlone => {
            drop(seat);
            return fetch_alone(patience, waited, fetch).await;
        }
        Act::Take(items) => return Ok(Listing::shared(items, waited)),
        Act::GiveUp => return Err(timeout(patience, waited)),
    };
    tracing::debug!(scope = ?seat.scope(), ?role, ?waited, "fetching a listing to share");

    // Dropped before the seat on every path, so a fetch is over by the time its seat is vacant.
    let mut fetching = pin!(fetch());
    let race = poll_fn(|cx| {
        if let Poll::Ready(own) = fetching.as_mut().poll(cx) {
            return Poll::Ready(Race::Own(own));
        }
        seat.poll_overtaken(cx.waker()).map(Race::Overtaken)
    });
    match timeout_at(patience.deadline(), race).await {
        Ok(Race::Own(Ok(fetched))) => {
            if fetched.is_cut_short() {
                seat.break_up();
            } else {
                seat.land(fetched.share());
            }
            Ok(fetched.into_listing(role, waited))
        }
        Ok(Race::Own(Err(error))) => Err(JoinError::Fetch(error)),
        Ok(Race::Overtaken(items)) => Ok(Listing::shared(items, patience.spent(Instant::now()))),
        Err(_elapsed) => Err(timeout(patience, waited)),
    }
}

enum Race<T, R> {
    Own(R),
    Overtaken(Arc<[T]>),
}

/// Waits until the seat has something to do.
async fn wait_for_act<T>(seat: &mut Seat<T>, patience: Patience) -> Act<T> {
    let mut alarm = pin!(sleep_until(patience.deadline()));
    poll_fn(|cx| {
        let mut now = Instant::now();
        loop {
            let look_again = match seat.poll(cx.waker(), patience, now) {
                ControlFlow::Break(act) => return Poll::Ready(act),
                ControlFlow::Continue(look_again) => look_again,
            };
            if alarm.deadline() != look_again {
                alarm.as_mut().reset(look_again);
            }
            ready!(alarm.as_mut().poll(cx));
            // A timer that rings a moment early must not make this spin.
            now = Instant::now().max(look_again);
        }
    })
    .await
}

/// The fetch of a startup that shares with nobody, under the same deadline.
async fn fetch_alone<T, F, Fut, E>(
    patience: Patience,
    waited: Duration,
    fetch: F,
) -> Result<Listing<T>, JoinError<E>>
where
    F: FnOnce() -> Fut,
    Fut: Future<Output = Result<Fetched<T>, E>>,
{
    match timeout_at(patience.deadline(), fetch()).await {
        Ok(Ok(fetched)) => Ok(fetched.into_listing(Origin::Alone, waited)),
        Ok(Err(error)) => Err(JoinError::Fetch(error)),
        Err(_elapsed) => Err(timeout(patience, waited)),
    }
}

fn timeout<E>(patience: Patience, waited: Duration) -> JoinError<E> {
    JoinError::Timeout(JoinTimeout {
        waited,
        budget: patience.budget(),
    })
}

impl JoinTimeout {
    /// How long the startup waited for others; the rest of its time it fetched.
    #[must_use]
    pub fn waited(&self) -> Duration {
        self.waited
    }

    /// How long it had, from joining to its deadline.
    #[must_use]
    pub fn budget(&self) -> Duration {
        self.budget
    }
}

// === impl ===

impl<T> Clone for SharedListings<T> {
    fn clone(&self) -> Self {
        Self {
            flights: Arc::clone(&self.flights),
        }
    }
}

impl<T> Default for SharedListings<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> fmt::Debug for SharedListings<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedListings")
            .field("in_flight", &self.in_flight())
            .finish()
    }
}
