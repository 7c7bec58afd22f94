//! A fetch that goes on and on does not take the others down.

use std::pin::pin;
use std::task::{Context, Waker};
use std::time::Duration;

use mcp_catalog::Origin::{BackedUp, Led};
use mcp_catalog::{Fetched, SharedListings, Sharing};
use tokio::time::Instant;

use crate::scenario::{End, Fetch, Item, NoAnswer, Startup, check, play, scope};

/// C4b
#[tokio::test(start_paused = true)]
async fn when_the_leader_hangs_all_others_are_ready_within_their_deadline() {
    let leader = Startup::new(Fetch::Hangs);
    let others = (1..50).map(|number| Startup::new(Fetch::Lists(1_000)).begins(number));
    let report = play([leader].into_iter().chain(others)).await;
    assert_eq!(report.fetches, [(0, 0), (1, 15_000)]);
    assert_eq!(report.ends[1], End::Own(BackedUp, 16_000));
    let rest = report
        .ends
        .iter()
        .enumerate()
        .filter(|(number, _)| *number != 1);
    for (number, end) in rest {
        assert_eq!(*end, End::Took(1, 16_000), "startup {number}");
    }
}

/// C4b: backups hang too; there are as many as halvings, and everyone ends in time.
#[tokio::test(start_paused = true)]
async fn when_every_fetch_hangs_there_are_a_handful_and_all_time_out() {
    let report = play((0..50).map(|_| Startup::new(Fetch::Hangs).budget(32_000))).await;
    let begun: Vec<_> = report.fetches.iter().map(|(_, at)| *at).collect();
    assert_eq!(begun, [0, 16_000, 24_000, 28_000, 30_000, 31_000]);
    for end in report.ends {
        assert!(matches!(end, End::TimedOut { at: 32_000, .. }), "{end:?}");
    }
}

/// C4b: slow is not stuck. The first result serves all, whoever it comes from.
#[tokio::test(start_paused = true)]
async fn the_first_result_serves_all() {
    check(
        [
            Startup::new(Fetch::Lists(20_000)),
            Startup::new(Fetch::Lists(10_000)).begins(1),
            Startup::new(Fetch::Lists(1_000)).begins(2),
        ],
        [
            End::Own(Led, 20_000),
            End::Took(0, 20_000),
            End::Took(0, 20_000),
        ],
        &[(0, 0), (1, 15_000)],
    )
    .await;
}

/// C4, C4b: the error of a backup is its own; the fetch before it goes on.
#[tokio::test(start_paused = true)]
async fn a_backup_that_fails_disturbs_nobody() {
    check(
        [
            Startup::new(Fetch::Lists(20_000)),
            Startup::new(Fetch::Fails(100)).begins(1),
            Startup::new(Fetch::Fails(100)).begins(2),
        ],
        [
            End::Own(Led, 20_000),
            End::Failed(15_100),
            End::Took(0, 20_000),
        ],
        &[(0, 0), (1, 15_000)],
    )
    .await;
}

/// C4b: half of *its* budget. It may have less time than the others.
#[tokio::test(start_paused = true)]
async fn a_startup_in_a_hurry_does_not_wait_for_a_patient_leader() {
    check(
        [
            Startup::new(Fetch::Lists(50_000)).budget(300_000),
            Startup::new(Fetch::Lists(1_000))
                .begins(20_000)
                .budget(10_000),
        ],
        [End::Took(1, 21_000), End::Own(BackedUp, 21_000)],
        &[(0, 0), (1, 20_000)],
    )
    .await;
}

/// C4b: alive, and never polled again: not even its own deadline frees its place.
#[tokio::test(start_paused = true)]
async fn a_leader_that_is_never_polled_again_is_backed_up() {
    let listings = SharedListings::new();
    let begun = Instant::now();
    let join = |number| {
        let deadline = Instant::now() + Duration::from_secs(30);
        listings.join(
            &scope("docs"),
            Sharing::Shared,
            deadline,
            move || async move {
                if number == 0 {
                    std::future::pending::<()>().await;
                }
                Ok::<_, NoAnswer>(Fetched::complete(vec![Item { fetched_by: number }]))
            },
        )
    };
    let mut leader = pin!(join(0));
    let polled = leader
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()));
    assert!(polled.is_pending());

    let second = join(1).await.unwrap();
    assert_eq!(second.origin(), BackedUp);
    assert_eq!(begun.elapsed(), Duration::from_secs(15));
    assert_eq!(join(2).await.unwrap().origin(), Led, "a new listing (C2)");
    let leader = leader.await.unwrap();
    assert_eq!(leader.items(), second.items(), "the first result served it");
}
