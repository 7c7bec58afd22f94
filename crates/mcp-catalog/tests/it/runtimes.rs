//! Startups of several tokio runtimes in one process.

use std::time::Duration;

use mcp_catalog::{Fetched, Origin, SharedListings, Sharing};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::scenario::{Item, NoAnswer, scope};

fn runtime() -> Runtime {
    Builder::new_multi_thread()
        .worker_threads(1)
        .enable_time()
        .build()
        .unwrap()
}

/// C0, C4
#[test]
fn a_runtime_that_shuts_down_hands_over_to_a_startup_of_another() {
    let listings = SharedListings::new();
    let deadline = Instant::now() + Duration::from_secs(60);
    let (ours, theirs) = (runtime(), runtime());

    let (fetching, is_fetching) = oneshot::channel();
    theirs.spawn(
        listings.join(&scope("docs"), Sharing::Shared, deadline, || async {
            fetching.send(()).unwrap();
            std::future::pending::<()>().await;
            Err::<Fetched<Item>, _>(NoAnswer(0))
        }),
    );
    is_fetching.blocking_recv().unwrap();

    let waiting = ours.spawn(
        listings.join(&scope("docs"), Sharing::Shared, deadline, || async {
            Ok::<_, NoAnswer>(Fetched::complete(vec![Item { fetched_by: 1 }]))
        }),
    );
    theirs.shutdown_timeout(Duration::from_secs(60));
    let listing = ours.block_on(waiting).unwrap().unwrap();
    assert_eq!(listing.origin(), Origin::TookOver);
    assert_eq!(listings.in_flight(), 0);
}

/// C1, C4, C7: real threads, real scheduling. Everybody ends, and nothing stays behind.
#[test]
fn startups_on_many_threads_all_end() {
    let listings = SharedListings::new();
    let runtime = Builder::new_multi_thread()
        .worker_threads(4)
        .enable_time()
        .build()
        .unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    let startups: Vec<_> = (0..2_000)
        .map(|number| {
            let join = listings.join(
                &scope("docs"),
                Sharing::Shared,
                deadline,
                move || async move {
                    tokio::task::yield_now().await;
                    if number % 3 == 0 {
                        return Err(NoAnswer(number));
                    }
                    Ok(Fetched::complete(vec![Item { fetched_by: number }]))
                },
            );
            let startup = runtime.spawn(join);
            if number % 7 == 0 {
                startup.abort();
            }
            startup
        })
        .collect();
    let listed = runtime.block_on(async {
        let mut listed = 0;
        for startup in startups {
            match startup.await {
                Ok(Ok(_)) => listed += 1,
                Ok(Err(error)) => assert!(matches!(error, mcp_catalog::JoinError::Fetch(_))),
                Err(error) => assert!(error.is_cancelled()),
            }
        }
        listed
    });
    assert!(listed > 0);
    assert_eq!(listings.in_flight(), 0);
}
