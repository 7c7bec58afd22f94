//! The state machine step by step, in the orders a scheduler seldom takes.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Poll, Wake, Waker};
use std::time::Duration;

use tokio::time::Instant;

use super::{Act, Flights, Seat};
use crate::listing::Origin;
use crate::patience::Patience;
use crate::scope::DiscoveryScope;

/// An item that cannot be cloned.
struct Item;

/// Flights, a clock that stands, and counted wake-ups.
struct Stage {
    flights: Arc<Flights<Item>>,
    scope: DiscoveryScope,
    zero: Instant,
    woken: Arc<Count>,
}

#[derive(Default)]
struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

impl Stage {
    fn new() -> Self {
        Self {
            flights: Arc::new(Flights::new()),
            scope: DiscoveryScope::named("docs"),
            zero: Instant::now(),
            woken: Arc::default(),
        }
    }

    fn seat(&self) -> Seat<Item> {
        self.flights.take_seat(&self.scope)
    }

    /// What the seat is to do `at` that many seconds, with a budget of 32 seconds from zero.
    fn act(&self, seat: &mut Seat<Item>, at: u64) -> &'static str {
        let patience = Patience::new(self.zero, self.zero + Duration::from_secs(32));
        let now = self.zero + Duration::from_secs(at);
        match seat.poll(&Waker::from(Arc::clone(&self.woken)), patience, now) {
            ControlFlow::Continue(_) => "wait",
            ControlFlow::Break(Act::Take(_)) => "take",
            ControlFlow::Break(Act::Fetch(Origin::Led)) => "lead",
            ControlFlow::Break(Act::Fetch(Origin::TookOver)) => "take over",
            ControlFlow::Break(Act::Fetch(Origin::BackedUp)) => "back up",
            ControlFlow::Break(Act::Fetch(_)) => "fetch in an impossible role",
            ControlFlow::Break(Act::FetchAlone) => "fetch alone",
            ControlFlow::Break(Act::GiveUp) => "give up",
        }
    }

    #[track_caller]
    fn check(&self, seat: &mut Seat<Item>, at: u64, act: &str) {
        assert_eq!(self.act(seat, at), act, "at {at} s");
    }

    #[track_caller]
    fn check_woken(&self, woken: usize, why: &str) {
        assert_eq!(self.woken.0.swap(0, Ordering::Relaxed), woken, "{why}");
    }
}

fn items() -> Arc<[Item]> {
    vec![Item].into()
}

/// C4
#[test]
fn whoever_is_polled_first_fetches() {
    let stage = Stage::new();
    let (mut first, mut second) = (stage.seat(), stage.seat());
    stage.check(&mut second, 0, "lead");
    stage.check(&mut first, 0, "wait");
}

/// C4: a startup dropped before its first poll never held anything.
#[test]
fn a_seat_dropped_before_its_first_poll_leaves_nothing() {
    let stage = Stage::new();
    drop(stage.seat());
    assert_eq!(stage.flights.open(), 0);

    let (first, mut second) = (stage.seat(), stage.seat());
    drop(first);
    stage.check(&mut second, 0, "lead");
}

/// C4: while it fetches, or between its result and the landing.
#[test]
fn a_fetching_seat_that_is_dropped_wakes_every_waiter_and_one_takes_over() {
    let stage = Stage::new();
    let (mut leader, mut a, mut b) = (stage.seat(), stage.seat(), stage.seat());
    stage.check(&mut leader, 0, "lead");
    stage.check(&mut a, 0, "wait");
    stage.check(&mut b, 0, "wait");
    drop(leader);
    stage.check_woken(2, "vacancy is broadcast");
    stage.check(&mut b, 1, "take over");
    stage.check(&mut a, 1, "wait");
}

/// C4: woken to take over, and dropped before it could.
#[test]
fn a_waiter_dropped_while_being_promoted_costs_the_others_nothing() {
    let stage = Stage::new();
    let (mut leader, mut a, mut b) = (stage.seat(), stage.seat(), stage.seat());
    stage.check(&mut leader, 0, "lead");
    stage.check(&mut a, 0, "wait");
    stage.check(&mut b, 0, "wait");
    drop(leader);
    drop(a);
    stage.check_woken(2, "both were woken by the vacancy");
    stage.check(&mut b, 1, "take over");
}

/// C3: the moment of promotion is the end of its time: it fails and leaves the fetch to others.
#[test]
fn a_waiter_out_of_time_does_not_take_over() {
    let stage = Stage::new();
    let (mut leader, mut late, mut other) = (stage.seat(), stage.seat(), stage.seat());
    stage.check(&mut leader, 0, "lead");
    stage.check(&mut late, 0, "wait");
    drop(leader);
    stage.check(&mut late, 32, "give up");
    stage.check(&mut other, 31, "take over");
}

/// C3: a listing that is there is taken, even at the last moment.
#[test]
fn a_listing_is_taken_at_the_deadline() {
    let stage = Stage::new();
    let (mut leader, mut waiter) = (stage.seat(), stage.seat());
    stage.check(&mut leader, 0, "lead");
    leader.land(items());
    stage.check(&mut waiter, 32, "take");
}

/// C2, C7
#[test]
fn a_seat_taken_after_the_landing_is_in_a_new_flight() {
    let stage = Stage::new();
    let mut leader = stage.seat();
    stage.check(&mut leader, 0, "lead");
    leader.land(items());
    assert_eq!(stage.flights.open(), 0);
    stage.check(&mut stage.seat(), 0, "lead");
}

/// C7: what is left of a finished flight must not touch the next one of the same scope.
#[test]
fn a_finished_flight_leaves_its_successor_alone() {
    let stage = Stage::new();
    let (mut leader, mut backup, waiter) = (stage.seat(), stage.seat(), stage.seat());
    stage.check(&mut leader, 0, "lead");
    stage.check(&mut backup, 16, "back up");
    leader.land(items());

    let mut next = stage.seat();
    stage.check(&mut next, 20, "lead");
    drop(waiter);
    assert_eq!(
        stage.flights.open(),
        1,
        "after a waiter of the old one left"
    );
    backup.land(items());
    assert_eq!(
        stage.flights.open(),
        1,
        "after a backup of the old one landed"
    );
    stage.check(&mut stage.seat(), 20, "wait");
}

/// C4b
#[test]
fn one_backup_starts_per_halving() {
    let stage = Stage::new();
    let mut seats: Vec<_> = (0..8).map(|_| stage.seat()).collect();
    let mut started = Vec::new();
    for at in 0..32 {
        for seat in seats.iter_mut().filter(|seat| !seat.fetching) {
            match stage.act(seat, at) {
                "wait" => {}
                act => started.push((at, act)),
            }
        }
    }
    let backups = [16, 24, 28, 30, 31].map(|at| (at, "back up"));
    assert_eq!(started, [&[(0, "lead")][..], &backups].concat());
}

/// C4b: the first listing serves all, the stuck fetch included.
#[test]
fn a_backup_that_lands_overtakes_the_fetch_before_it() {
    let stage = Stage::new();
    let (mut stuck, mut backup, mut waiter) = (stage.seat(), stage.seat(), stage.seat());
    let waker = Waker::from(Arc::clone(&stage.woken));
    stage.check(&mut stuck, 0, "lead");
    assert!(stuck.poll_overtaken(&waker).is_pending());
    stage.check(&mut backup, 16, "back up");
    stage.check(&mut waiter, 16, "wait");
    let landed = items();
    backup.land(Arc::clone(&landed));
    stage.check_woken(2, "the landing is broadcast");
    stage.check(&mut waiter, 17, "take");
    let Poll::Ready(taken) = stuck.poll_overtaken(&waker) else {
        panic!("the listing is there");
    };
    assert!(Arc::ptr_eq(&taken, &landed), "one allocation");
}

/// C4b: two fetches end at once; everyone gets the same listing.
#[test]
fn a_second_landing_changes_nothing() {
    let stage = Stage::new();
    let (mut slow, mut backup, mut waiter) = (stage.seat(), stage.seat(), stage.seat());
    stage.check(&mut slow, 0, "lead");
    stage.check(&mut backup, 16, "back up");
    let first = items();
    backup.land(Arc::clone(&first));
    slow.land(items());
    let Poll::Ready(taken) = waiter.poll_overtaken(Waker::noop()) else {
        panic!("the listing is there");
    };
    assert!(Arc::ptr_eq(&taken, &first));
}

/// C4b: one of two fetches going away is no vacancy.
#[test]
fn a_backup_that_fails_leaves_the_first_fetch_in_charge() {
    let stage = Stage::new();
    let (mut leader, mut backup, mut waiter) = (stage.seat(), stage.seat(), stage.seat());
    stage.check(&mut leader, 0, "lead");
    stage.check(&mut backup, 16, "back up");
    stage.check(&mut waiter, 16, "wait");
    drop(backup);
    stage.check(&mut waiter, 17, "wait");
    stage.check(&mut waiter, 24, "back up");
}

/// C6
#[test]
fn a_listing_that_cannot_be_shared_sends_everyone_to_fetch_alone() {
    let stage = Stage::new();
    let (mut leader, mut waiter) = (stage.seat(), stage.seat());
    stage.check(&mut leader, 0, "lead");
    stage.check(&mut waiter, 0, "wait");
    leader.break_up();
    stage.check_woken(1, "the break-up is broadcast");
    assert_eq!(stage.flights.open(), 0);
    stage.check(&mut waiter, 1, "fetch alone");
}
