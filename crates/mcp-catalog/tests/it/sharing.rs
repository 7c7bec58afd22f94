//! Who shares, and who does not.

use std::error::Error;
use std::time::Duration;

use mcp_catalog::Origin::{Alone, BackedUp, Led};
use mcp_catalog::{Fetched, JoinError, SharedListings, Sharing};
use tokio::time::Instant;

use crate::scenario::{End, Fetch, Item, NoAnswer, Startup, check, play, scope};

/// C1
#[tokio::test(start_paused = true)]
async fn fifty_overlapping_startups_issue_one_fetch() {
    let startups = (0..50).map(|number| Startup::new(Fetch::Lists(1_000)).begins(number * 10));
    let report = play(startups).await;
    assert_eq!(report.fetches, [(0, 0)]);
    assert_eq!(report.ends[0], End::Own(Led, 1_000));
    assert!(
        report.ends[1..]
            .iter()
            .all(|end| *end == End::Took(0, 1_000))
    );
}

/// C2
#[tokio::test(start_paused = true)]
async fn a_later_startup_fetches_again() {
    check(
        [
            Startup::new(Fetch::Lists(100)),
            Startup::new(Fetch::Lists(100)).begins(99),
            Startup::new(Fetch::Lists(100)).begins(101),
        ],
        [End::Own(Led, 100), End::Took(0, 100), End::Own(Led, 201)],
        &[(0, 0), (2, 101)],
    )
    .await;
}

/// C6
#[tokio::test(start_paused = true)]
async fn an_opted_out_startup_neither_waits_nor_fetches_for_others() {
    check(
        [
            Startup::new(Fetch::Lists(100)).opted_out(),
            Startup::new(Fetch::Lists(100)).begins(1),
            Startup::new(Fetch::Lists(100)).begins(2).opted_out(),
            Startup::new(Fetch::Lists(100)).begins(3),
        ],
        [
            End::Own(Alone, 100),
            End::Own(Led, 101),
            End::Own(Alone, 102),
            End::Took(1, 101),
        ],
        &[(0, 0), (1, 1), (2, 2)],
    )
    .await;
}

/// C6: nobody gets it, and nobody queues for the next one either.
#[tokio::test(start_paused = true)]
async fn a_listing_cut_short_is_never_shared() {
    check(
        [
            Startup::new(Fetch::ListsCutShort(100)),
            Startup::new(Fetch::Lists(100)).begins(1),
            Startup::new(Fetch::ListsCutShort(200)).begins(2),
            Startup::new(Fetch::Fails(100)).begins(3),
        ],
        [
            End::Own(Led, 100),
            End::Own(Alone, 200),
            End::Own(Alone, 300),
            End::Failed(200),
        ],
        &[(0, 0), (1, 100), (2, 100), (3, 100)],
    )
    .await;
}

/// C4b, C6: one that fetches already keeps its fetch.
#[tokio::test(start_paused = true)]
async fn a_listing_cut_short_does_not_stop_another_fetch() {
    check(
        [
            Startup::new(Fetch::Lists(20_000)),
            Startup::new(Fetch::ListsCutShort(1_000)).begins(1),
            Startup::new(Fetch::Lists(500)).begins(2),
        ],
        [
            End::Own(Led, 20_000),
            End::Own(BackedUp, 16_000),
            End::Own(Alone, 16_500),
        ],
        &[(0, 0), (1, 15_000), (2, 16_000)],
    )
    .await;
}

/// C3
#[tokio::test(start_paused = true)]
async fn waiting_counts_against_the_waiters_own_deadline() {
    check(
        [
            Startup::new(Fetch::Lists(20_000)).budget(60_000),
            Startup::new(Fetch::Hangs).begins(100).budget(1_000),
            Startup::new(Fetch::Lists(1)).begins(200).budget(60_000),
        ],
        [
            End::Own(Led, 20_000),
            End::TimedOut {
                at: 1_100,
                waited: 400,
            },
            End::Took(0, 20_000),
        ],
        &[(0, 0), (1, 500)],
    )
    .await;
}

/// C3: the fetch is inside the same deadline, whoever runs it.
#[tokio::test(start_paused = true)]
async fn fetching_counts_against_the_same_deadline() {
    let alone = Startup::new(Fetch::Hangs).opted_out();
    let timed_out = End::TimedOut {
        at: 30_000,
        waited: 0,
    };
    check([alone], [timed_out.clone()], &[(0, 0)]).await;
    check([Startup::new(Fetch::Hangs)], [timed_out], &[(0, 0)]).await;
}

/// C3: nobody else notices, and the next waiter is served.
#[tokio::test(start_paused = true)]
async fn a_waiter_that_runs_out_of_time_disturbs_nobody() {
    check(
        [
            Startup::new(Fetch::Lists(400)),
            Startup::new(Fetch::Lists(1)).begins(100).budget(0),
            Startup::new(Fetch::Lists(1)).begins(101),
        ],
        [
            End::Own(Led, 400),
            End::TimedOut { at: 100, waited: 0 },
            End::Took(0, 400),
        ],
        &[(0, 0)],
    )
    .await;
}

/// The messages of an error and its sources.
fn chain(error: &dyn Error) -> Vec<String> {
    let mut messages = vec![error.to_string()];
    let mut source = error.source();
    while let Some(error) = source {
        messages.push(error.to_string());
        source = error.source();
    }
    messages
}

/// C3: an error says what happened once, and what to do.
#[tokio::test(start_paused = true)]
async fn errors_say_what_and_why_once() {
    let listings = SharedListings::<Item>::new();
    let deadline = Instant::now() + Duration::from_secs(30);
    let scope = scope("docs");
    let failed = listings
        .join(&scope, Sharing::Shared, deadline, || async {
            Err(NoAnswer(0))
        })
        .await
        .unwrap_err();
    assert_eq!(
        chain(&failed),
        [
            "could not list what the server offers",
            "the server did not answer startup 0"
        ]
    );
    let timeout: JoinError<NoAnswer> = listings
        .join(&scope, Sharing::Shared, deadline, || async {
            std::future::pending::<()>().await;
            Ok(Fetched::complete(vec![]))
        })
        .await
        .unwrap_err();
    assert_eq!(
        chain(&timeout),
        [
            "no listing within 30s, 0ns of it spent waiting for other startups: allow the startup more \
             time or opt out of sharing"
        ]
    );
}
