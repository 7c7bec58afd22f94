//! What happens when the startup that fetches does not come through.

use std::pin::pin;
use std::task::{Context, Waker};
use std::time::Duration;

use mcp_catalog::Origin::{Led, TookOver};
use mcp_catalog::{Fetched, JoinError, SharedListings, Sharing};
use tokio::time::Instant;

use crate::scenario::{End, Fetch, Item, NoAnswer, Startup, check, play, scope};

/// C4
#[tokio::test(start_paused = true)]
async fn cancellation_recovery_costs_exactly_one_further_fetch() {
    check(
        [
            Startup::new(Fetch::Lists(1_000)).dropped(500),
            Startup::new(Fetch::Lists(1_000)).begins(1),
            Startup::new(Fetch::Lists(1_000)).begins(2),
            Startup::new(Fetch::Lists(1_000)).begins(3),
        ],
        [
            End::Dropped(500),
            End::Own(TookOver, 1_500),
            End::Took(1, 1_500),
            End::Took(1, 1_500),
        ],
        &[(0, 0), (1, 500)],
    )
    .await;
}

/// C4
#[tokio::test(start_paused = true)]
async fn a_failure_stays_with_the_startup_whose_fetch_failed() {
    check(
        [
            Startup::new(Fetch::Fails(100)),
            Startup::new(Fetch::Fails(100)).begins(1),
            Startup::new(Fetch::Lists(100)).begins(2),
            Startup::new(Fetch::Fails(100)).begins(3),
        ],
        [
            End::Failed(100),
            End::Failed(200),
            End::Own(TookOver, 300),
            End::Took(2, 300),
        ],
        &[(0, 0), (1, 100), (2, 200)],
    )
    .await;
}

/// C4
#[tokio::test(start_paused = true)]
async fn a_fetch_that_panics_is_taken_over() {
    check(
        [
            Startup::new(Fetch::Panics(100)),
            Startup::new(Fetch::Lists(100)).begins(1),
        ],
        [End::Panicked, End::Own(TookOver, 200)],
        &[(0, 0), (1, 100)],
    )
    .await;
}

/// C4: its deadline ends a fetch like any other cancellation.
#[tokio::test(start_paused = true)]
async fn a_fetch_out_of_time_is_taken_over() {
    check(
        [
            Startup::new(Fetch::Hangs).budget(1_000),
            Startup::new(Fetch::Lists(100)).begins(1),
        ],
        [
            End::TimedOut {
                at: 1_000,
                waited: 0,
            },
            End::Own(TookOver, 1_100),
        ],
        &[(0, 0), (1, 1_000)],
    )
    .await;
}

/// C4: dropped while it waits, and while it fetches after taking over.
#[tokio::test(start_paused = true)]
async fn waiters_that_are_dropped_pass_on_what_they_held() {
    check(
        [
            Startup::new(Fetch::Fails(100)),
            Startup::new(Fetch::Lists(100)).begins(1).dropped(50),
            Startup::new(Fetch::Lists(100)).begins(2).dropped(150),
            Startup::new(Fetch::Lists(100)).begins(3),
        ],
        [
            End::Failed(100),
            End::Dropped(50),
            End::Dropped(150),
            End::Own(TookOver, 250),
        ],
        &[(0, 0), (2, 100), (3, 150)],
    )
    .await;
}

/// C3, C4: the fetch falls vacant at the very moment at which the waiters' time is over.
#[tokio::test(start_paused = true)]
async fn waiters_out_of_time_when_the_fetch_falls_vacant_leave_it_to_others() {
    let leader = Startup::new(Fetch::Hangs).budget(60_000).dropped(32_000);
    let late = Startup::new(Fetch::Lists(100))
        .begins(20_000)
        .budget(100_000);
    let others = (0..10).map(|_| Startup::new(Fetch::Hangs).budget(32_000));
    let report = play([leader, late].into_iter().chain(others)).await;
    assert_eq!(
        report.ends[..2],
        [End::Dropped(32_000), End::Own(TookOver, 32_100)]
    );
    for end in &report.ends[2..] {
        assert!(matches!(end, End::TimedOut { at: 32_000, .. }), "{end:?}");
    }
    let last = report.fetches.last();
    assert_eq!(last, Some(&(1, 32_000)), "nobody fetched with no time left");
}

/// C1, C4: beginning is the call; a startup that is never polled holds nothing.
#[tokio::test(start_paused = true)]
async fn a_startup_that_is_never_polled_is_in_nobodys_way() {
    let listings = SharedListings::new();
    let deadline = Instant::now() + Duration::from_secs(30);
    let fetch = |number| async move {
        Ok::<_, NoAnswer>(Fetched::complete(vec![Item { fetched_by: number }]))
    };
    let unpolled = listings.join(&scope("docs"), Sharing::Shared, deadline, || fetch(0));
    let polled = listings.join(&scope("docs"), Sharing::Shared, deadline, || fetch(1));
    assert_eq!(listings.in_flight(), 1);
    assert_eq!(polled.await.unwrap().origin(), Led);
    let late = unpolled.await.unwrap();
    assert_eq!(late.items(), [Item { fetched_by: 1 }], "they overlapped");
}

/// C4: a waiter that was woken to take over and is not polled again does not keep others from it.
#[tokio::test(start_paused = true)]
async fn vacancy_is_claimed_by_whoever_polls_first() {
    let listings = SharedListings::new();
    let deadline = Instant::now() + Duration::from_secs(30);
    let scope = scope("docs");
    let join = |number| {
        listings.join(&scope, Sharing::Shared, deadline, move || async move {
            if number == 0 {
                return Err(NoAnswer(number));
            }
            Ok(Fetched::complete(vec![Item { fetched_by: number }]))
        })
    };
    let (first, second, third) = (join(0), join(1), join(2));
    let mut second = pin!(second);
    assert!(matches!(first.await, Err(JoinError::Fetch(NoAnswer(0)))));
    assert_eq!(third.await.unwrap().origin(), TookOver);
    let polled = second
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()));
    assert!(polled.is_ready());
}
