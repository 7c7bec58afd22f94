//! The state machine of a shared listing: who fetches, who waits, and how it ends.
//!
//! A *flight* is one listing shared by the startups that overlap. Each startup holds a [`Seat`] in
//! it. Nobody is made leader: a seat that is polled while no fetch runs claims the fetch for itself,
//! whether the flight is new or its last fetch went away. The machine knows neither tasks nor timers;
//! the owner of a seat polls it, runs the fetch, and drops the seat.
//!
//! Invariants:
//!
//! 1. A flight in the map is open, and `seats` counts the seats taken through the map and not
//!    dropped. At zero the flight leaves the map. Every removal checks that it is still the same one.
//! 2. `fetching` counts the seats with `fetching` set. Only their owner sets it back: by landing, or
//!    by dropping the seat, on any path, unwinding included.
//! 3. A flight leaves the map *before* its outcome can be seen. So who saw a listing end and then
//!    begins a startup finds no trace of it (rule C2).
//! 4. The outcome is set at most once. From then on every poll of a waiting seat returns it.
//! 5. No wake-up is lost: a waker is stored under the same lock that saw nothing to do, and whatever
//!    gives waiters something to do (the outcome, or `fetching` reaching zero) takes all wakers under
//!    that lock and wakes them. A woken seat that is dropped or never polled matters to nobody, since
//!    vacancy is a state and not a message.
//! 6. The two locks are never held together, and no foreign code runs under either: wakers are cloned
//!    before, and woken and dropped after.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::task::{Poll, Waker};

use tokio::time::Instant;

use crate::listing::Origin;
use crate::patience::Patience;
use crate::scope::DiscoveryScope;
use crate::sync::Lock;

/// All flights of one [`SharedListings`](crate::SharedListings).
pub(crate) struct Flights<T> {
    map: Lock<Map<T>>,
}

struct Map<T> {
    open: HashMap<DiscoveryScope, Entry<T>>,
    last_seat: u64,
}

struct Entry<T> {
    flight: Arc<Flight<T>>,
    seats: usize,
}

struct Flight<T> {
    state: Lock<State<T>>,
}

struct State<T> {
    outcome: Option<Outcome<T>>,
    fetching: usize,
    /// When the newest fetch began, whatever became of it.
    newest: Option<Instant>,
    wakers: HashMap<u64, Waker>,
}

enum Outcome<T> {
    Landed(Arc<[T]>),
    BrokenUp,
}

/// The place of one startup in a flight. Dropping it leaves the flight, and vacates the fetch if
/// this seat was fetching.
pub(crate) struct Seat<T> {
    flights: Arc<Flights<T>>,
    scope: DiscoveryScope,
    flight: Arc<Flight<T>>,
    number: u64,
    fetching: bool,
}

/// What a waiting seat is to do now.
pub(crate) enum Act<T> {
    /// Take the listing that another seat fetched.
    Take(Arc<[T]>),
    /// Fetch for everyone, in this role.
    Fetch(Origin),
    /// Fetch alone: the listing turned out not to be shareable.
    FetchAlone,
    /// Give up: the deadline is over.
    GiveUp,
}

impl<T> Flights<T> {
    pub(crate) fn new() -> Self {
        Self {
            map: Lock::new(Map {
                open: HashMap::new(),
                last_seat: 0,
            }),
        }
    }

    /// Takes a seat in the open flight of the scope, or in a new one.
    pub(crate) fn take_seat(self: &Arc<Self>, scope: &DiscoveryScope) -> Seat<T> {
        let mut map = self.map.hold();
        map.last_seat += 1;
        let number = map.last_seat;
        let entry = map.open.entry(scope.clone()).or_insert_with(|| Entry {
            flight: Arc::new(Flight::new()),
            seats: 0,
        });
        entry.seats += 1;
        Seat {
            flights: Arc::clone(self),
            scope: scope.clone(),
            flight: Arc::clone(&entry.flight),
            number,
            fetching: false,
        }
    }

    /// How many flights are open.
    pub(crate) fn open(&self) -> usize {
        self.map.hold().open.len()
    }

    fn remove(&self, scope: &DiscoveryScope, flight: &Arc<Flight<T>>) {
        let mut map = self.map.hold();
        let removed = match map.open.get(scope) {
            Some(entry) if Arc::ptr_eq(&entry.flight, flight) => map.open.remove(scope),
            _ => None,
        };
        drop(map);
        drop(removed);
    }

    fn leave(&self, scope: &DiscoveryScope, flight: &Arc<Flight<T>>) {
        let mut map = self.map.hold();
        let Some(entry) = map.open.get_mut(scope) else {
            return;
        };
        if !Arc::ptr_eq(&entry.flight, flight) {
            return;
        }
        entry.seats -= 1;
        let removed = if entry.seats == 0 {
            map.open.remove(scope)
        } else {
            None
        };
        drop(map);
        drop(removed);
    }
}

impl<T> Flight<T> {
    fn new() -> Self {
        Self {
            state: Lock::new(State {
                outcome: None,
                fetching: 0,
                newest: None,
                wakers: HashMap::new(),
            }),
        }
    }
}

impl<T> Seat<T> {
    pub(crate) fn scope(&self) -> &DiscoveryScope {
        &self.scope
    }

    /// What a waiting seat is to do, or when to look again unless woken before. A seat that is told
    /// to fetch counts as fetching from then on, until it ends the flight or is dropped.
    pub(crate) fn poll(
        &mut self,
        waker: &Waker,
        patience: Patience,
        now: Instant,
    ) -> ControlFlow<Act<T>, Instant> {
        let waker = waker.clone();
        let mut state = self.flight.state.hold();
        let look_again = match state.next(patience, now) {
            ControlFlow::Continue(look_again) => look_again,
            ControlFlow::Break(act) => {
                if let Act::Fetch(_) = act {
                    self.fetching = true;
                    state.fetching += 1;
                    state.newest = Some(now);
                }
                return ControlFlow::Break(act);
            }
        };
        let old = state.wakers.insert(self.number, waker);
        drop(state);
        drop(old);
        ControlFlow::Continue(look_again)
    }

    /// For a seat that fetches: the listing of another seat, if that came first.
    pub(crate) fn poll_overtaken(&mut self, waker: &Waker) -> Poll<Arc<[T]>> {
        let waker = waker.clone();
        let mut state = self.flight.state.hold();
        if let Some(Outcome::Landed(items)) = &state.outcome {
            return Poll::Ready(Arc::clone(items));
        }
        let old = state.wakers.insert(self.number, waker);
        drop(state);
        drop(old);
        Poll::Pending
    }

    /// Ends the flight with this seat's listing, unless another seat's came first.
    pub(crate) fn land(self, items: Arc<[T]>) {
        self.end(Outcome::Landed(items));
    }

    /// Ends the flight without a listing: whoever waits fetches alone, and nobody queues behind
    /// fetches that help only those who run them (rule C6).
    pub(crate) fn break_up(self) {
        self.end(Outcome::BrokenUp);
    }

    fn end(self, outcome: Outcome<T>) {
        self.flights.remove(&self.scope, &self.flight);
        let mut state = self.flight.state.hold();
        let late = match state.outcome {
            None => {
                state.outcome = Some(outcome);
                None
            }
            Some(_) => Some(outcome),
        };
        let wakers = std::mem::take(&mut state.wakers);
        drop(state);
        drop(late);
        wake_all(wakers);
    }
}

impl<T> State<T> {
    /// What whoever looks now is to do, or when to look again.
    fn next(&self, patience: Patience, now: Instant) -> ControlFlow<Act<T>, Instant> {
        let act = match (&self.outcome, self.newest) {
            (Some(Outcome::Landed(items)), _) => Act::Take(Arc::clone(items)),
            (Some(Outcome::BrokenUp), _) => Act::FetchAlone,
            (None, _) if patience.is_over(now) => Act::GiveUp,
            (None, None) => Act::Fetch(Origin::Led),
            (None, Some(_)) if self.fetching == 0 => Act::Fetch(Origin::TookOver),
            (None, Some(newest)) => match patience.backup_due(newest, now) {
                Some(due) if due <= now => Act::Fetch(Origin::BackedUp),
                later => return ControlFlow::Continue(later.unwrap_or(patience.deadline())),
            },
        };
        ControlFlow::Break(act)
    }
}

/// Wakes the oldest seat first: its deadline is most likely the nearest.
fn wake_all(wakers: HashMap<u64, Waker>) {
    let mut wakers: Vec<_> = wakers.into_iter().collect();
    wakers.sort_unstable_by_key(|(number, _)| *number);
    for (_, waker) in wakers {
        waker.wake();
    }
}

// === impl ===

impl<T> Drop for Seat<T> {
    fn drop(&mut self) {
        let mut state = self.flight.state.hold();
        let own = state.wakers.remove(&self.number);
        let mut vacated = HashMap::new();
        if self.fetching {
            state.fetching -= 1;
            if state.fetching == 0 && state.outcome.is_none() {
                vacated = std::mem::take(&mut state.wakers);
            }
        }
        drop(state);
        self.flights.leave(&self.scope, &self.flight);
        drop(own);
        wake_all(vacated);
    }
}

#[cfg(test)]
#[cfg(not(shuttle))]
mod tests;

#[cfg(test)]
#[cfg(shuttle)]
mod explored;
