//! The state machine under every schedule shuttle finds. It runs apart from the other tests:
//!
//! ```text
//! RUSTFLAGS="--cfg shuttle" CARGO_TARGET_DIR=target/shuttle cargo test -p mcp-catalog --lib explored
//! ```
//!
//! A lost wake-up shows as a deadlock, which shuttle reports with a schedule to replay.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use shuttle::future::block_on;
use shuttle::thread;
use tokio::time::Instant;

use super::{Act, Flights, Seat};
use crate::patience::Patience;
use crate::scope::DiscoveryScope;

const SCHEDULES: usize = 1000;

/// What becomes of one startup, as far as it decides that itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// Its fetch, if it comes to that, succeeds.
    Lands,
    /// Its fetch fails, panics or is dropped: the seat goes while it fetches.
    Fails,
    /// Its listing is cut short.
    BreaksUp,
    /// It is dropped at the first poll that finds nothing to do.
    Leaves,
    /// It is dropped before its first poll.
    NeverPolled,
}

/// How one startup ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Own,
    Took(usize),
    Alone,
    Failed,
    Gone,
}

struct Stage {
    flights: Arc<Flights<usize>>,
    scope: DiscoveryScope,
    zero: Instant,
    fetching: AtomicUsize,
    /// Whose listings somebody has seen end.
    over: Mutex<BTreeSet<usize>>,
}

impl Stage {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            flights: Arc::new(Flights::new()),
            scope: DiscoveryScope::named("docs"),
            zero: Instant::now(),
            fetching: AtomicUsize::new(0),
            over: Mutex::default(),
        })
    }

    fn seat(&self) -> Seat<usize> {
        self.flights.take_seat(&self.scope)
    }

    fn saw_the_end_of(&self, number: usize) {
        self.over.lock().unwrap().insert(number);
    }

    /// Polls until there is something to do; `None` when the seat does not wait for that.
    fn act(&self, seat: &mut Seat<usize>, at: u64, waits: bool) -> Option<Act<usize>> {
        let patience = Patience::new(self.zero, self.zero + Duration::from_secs(32));
        let now = self.zero + Duration::from_secs(at);
        block_on(std::future::poll_fn(|cx| {
            match seat.poll(cx.waker(), patience, now) {
                ControlFlow::Break(act) => Poll::Ready(Some(act)),
                ControlFlow::Continue(_) if waits => Poll::Pending,
                ControlFlow::Continue(_) => Poll::Ready(None),
            }
        }))
    }

    /// A fetch that must be one of at most `limit` at a time.
    fn fetch(&self, limit: usize) {
        let running = self.fetching.fetch_add(1, Ordering::Relaxed) + 1;
        assert!(running <= limit, "{running} fetches at once");
        thread::yield_now();
        self.fetching.fetch_sub(1, Ordering::Relaxed);
    }

    /// One startup from its beginning to its end.
    fn start_up(&self, number: usize, fate: Fate) -> End {
        let over_before = self.over.lock().unwrap().clone();
        let mut seat = self.seat();
        if fate == Fate::NeverPolled {
            return End::Gone;
        }
        match self.act(&mut seat, 0, fate != Fate::Leaves) {
            None => End::Gone,
            Some(Act::Take(items)) => {
                assert!(
                    !over_before.contains(&items[0]),
                    "got a listing that was over before it began"
                );
                self.saw_the_end_of(items[0]);
                End::Took(items[0])
            }
            Some(Act::FetchAlone) => End::Alone,
            Some(Act::GiveUp) => panic!("the clock stands"),
            Some(Act::Fetch(_)) => {
                self.fetch(1);
                self.end(seat, number, fate)
            }
        }
    }

    fn end(&self, seat: Seat<usize>, number: usize, fate: Fate) -> End {
        match fate {
            Fate::Lands => seat.land([number].into()),
            Fate::BreaksUp => seat.break_up(),
            Fate::Fails | Fate::Leaves | Fate::NeverPolled => return End::Failed,
        }
        self.saw_the_end_of(number);
        End::Own
    }
}

/// Runs one startup per fate, all at once, and checks how they may end.
fn run(fates: &[Fate]) {
    let stage = Stage::new();
    let startups: Vec<_> = fates
        .iter()
        .copied()
        .enumerate()
        .map(|(number, fate)| {
            let stage = Arc::clone(&stage);
            thread::spawn(move || stage.start_up(number, fate))
        })
        .collect();
    let ends: Vec<_> = startups
        .into_iter()
        .map(|startup| startup.join().unwrap())
        .collect();
    for (end, fate) in ends.iter().zip(fates) {
        match end {
            End::Took(number) => {
                assert_eq!(fates[*number], Fate::Lands, "shared what must not be");
                assert_eq!(ends[*number], End::Own, "shared what nobody landed");
            }
            End::Alone => assert!(
                ends.iter()
                    .zip(fates)
                    .any(|(end, fate)| { (end, fate) == (&End::Own, &Fate::BreaksUp) })
            ),
            End::Own => assert!(matches!(fate, Fate::Lands | Fate::BreaksUp)),
            End::Failed => assert!(matches!(fate, Fate::Fails | Fate::Leaves)),
            End::Gone => assert!(matches!(fate, Fate::Leaves | Fate::NeverPolled)),
        }
    }
    assert_eq!(stage.flights.open(), 0, "a flight stayed behind: {ends:?}");
}

const ALL: [Fate; 5] = [
    Fate::Lands,
    Fate::Fails,
    Fate::BreaksUp,
    Fate::Leaves,
    Fate::NeverPolled,
];

/// C4, C6: a leader that ends while a waiter goes to sleep, in every schedule there is.
#[test]
fn a_waiter_hears_of_every_end_of_its_leader() {
    for fate in [Fate::Lands, Fate::Fails, Fate::BreaksUp] {
        shuttle::check_dfs(
            move || {
                let stage = Stage::new();
                let (mut leader, mut waiter) = (stage.seat(), stage.seat());
                assert!(matches!(
                    stage.act(&mut leader, 0, true),
                    Some(Act::Fetch(_))
                ));
                let waits = {
                    let stage = Arc::clone(&stage);
                    thread::spawn(move || stage.act(&mut waiter, 0, true))
                };
                stage.end(leader, 0, fate);
                let act = waits.join().unwrap();
                assert!(match fate {
                    Fate::Lands => matches!(act, Some(Act::Take(_))),
                    Fate::BreaksUp => matches!(act, Some(Act::FetchAlone)),
                    _ => matches!(act, Some(Act::Fetch(_))),
                });
                assert_eq!(stage.flights.open(), 0, "a flight stayed behind");
            },
            None,
        );
    }
}

/// C1, C2, C4, C6, C7
#[test]
fn every_mix_of_three_startups_ends() {
    for first in ALL {
        for second in ALL {
            for third in ALL {
                shuttle::check_random(move || run(&[first, second, third]), SCHEDULES / 20);
            }
        }
    }
}

/// C4: fetches fail one after another until one does not.
#[test]
fn a_row_of_failures_reaches_the_startup_that_succeeds() {
    use Fate::{Fails, Lands, Leaves};
    let fates = [Fails, Fails, Leaves, Fails, Lands];
    shuttle::check_pct(move || run(&fates), SCHEDULES, 4);
}

/// C4b: a fetch that never ends, a backup, and waiters. The stuck one is woken to take the listing.
#[test]
fn a_backup_serves_the_stuck_fetch_and_the_waiters() {
    shuttle::check_random(
        || {
            let stage = Stage::new();
            let (mut stuck, mut waiter) = (stage.seat(), stage.seat());
            assert!(matches!(
                stage.act(&mut stuck, 0, true),
                Some(Act::Fetch(_))
            ));
            let backups: Vec<_> = [(0, stage.seat()), (1, stage.seat())]
                .into_iter()
                .map(|(number, mut seat)| {
                    let stage = Arc::clone(&stage);
                    thread::spawn(move || match stage.act(&mut seat, 16, true) {
                        Some(Act::Fetch(_)) => {
                            stage.fetch(1);
                            stage.end(seat, number, Fate::Lands)
                        }
                        Some(Act::Take(items)) => End::Took(items[0]),
                        _ => panic!("neither fetched nor took"),
                    })
                })
                .collect();
            let waits = {
                let stage = Arc::clone(&stage);
                thread::spawn(move || stage.act(&mut waiter, 0, true))
            };
            let overtaken = block_on(std::future::poll_fn(|cx| stuck.poll_overtaken(cx.waker())));
            drop(stuck);
            let Some(Act::Take(waited)) = waits.join().unwrap() else {
                panic!("the waiter did not get the listing");
            };
            assert!(Arc::ptr_eq(&overtaken, &waited), "one allocation");
            let ends: Vec<_> = backups
                .into_iter()
                .map(|backup| backup.join().unwrap())
                .collect();
            let landed = ends.iter().filter(|end| **end == End::Own).count();
            assert_eq!(landed, 1, "one backup per halving: {ends:?}");
            assert_eq!(stage.flights.open(), 0);
        },
        SCHEDULES,
    );
}

/// C7: startups one after another in two threads, so that new flights overlap with what is left of
/// old ones.
#[test]
fn flights_of_one_scope_follow_one_another() {
    shuttle::check_random(
        || {
            let stage = Stage::new();
            let threads: Vec<_> = (0..3)
                .map(|thread| {
                    let stage = Arc::clone(&stage);
                    thread::spawn(move || {
                        for (turn, fate) in [Fate::Lands, Fate::Fails, Fate::Lands]
                            .into_iter()
                            .enumerate()
                        {
                            stage.start_up(thread * 10 + turn, fate);
                        }
                    })
                })
                .collect();
            for thread in threads {
                thread.join().unwrap();
            }
            assert_eq!(stage.flights.open(), 0);
        },
        SCHEDULES,
    );
}
