//! Ten thousand startups at once.

use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;

use mcp_catalog::{Fetched, JoinError, Origin, SharedListings, Sharing};
use tokio::task::LocalSet;
use tokio::time::{Instant, sleep};

use crate::scenario::{Item, NoAnswer, scope};

const CROWD: usize = 10_000;

/// C4: the work after a failure grows with the crowd, not with its square.
#[tokio::test(start_paused = true)]
async fn a_failure_costs_each_waiter_a_few_polls() {
    let listings = SharedListings::new();
    let polls = Rc::new(Cell::new(0));
    let tasks = LocalSet::new();
    let startups: Vec<_> = (0..CROWD)
        .map(|number| {
            let deadline = Instant::now() + Duration::from_secs(30);
            let scope = scope("docs");
            let join = listings.join(&scope, Sharing::Shared, deadline, move || async move {
                sleep(Duration::from_secs(1)).await;
                if number < 3 {
                    return Err(NoAnswer(number));
                }
                Ok(Fetched::complete(vec![Item { fetched_by: number }]))
            });
            let polls = Rc::clone(&polls);
            tasks.spawn_local(async move {
                let mut join = pin!(join);
                poll_fn(|cx| {
                    polls.set(polls.get() + 1);
                    join.as_mut().poll(cx)
                })
                .await
            })
        })
        .collect();
    tasks.await;

    let (mut failed, mut shared) = (0, 0);
    for startup in startups {
        match startup.await.unwrap() {
            Ok(listing) if listing.origin() == Origin::Shared => shared += 1,
            Ok(listing) => assert_eq!(listing.origin(), Origin::TookOver),
            Err(JoinError::Fetch(_)) => failed += 1,
            Err(JoinError::Timeout(timeout)) => panic!("{timeout}"),
        }
    }
    assert_eq!((failed, shared), (3, CROWD - 4));
    // One to begin, one per failure, one for the listing.
    let each = polls.get() / CROWD;
    assert!(each <= 5, "{each} polls for each startup");
}
