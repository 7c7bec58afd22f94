//! A fetch that joins its own scope waits for itself, but not for ever.

use std::time::Duration;

use mcp_catalog::{Fetched, JoinError, Origin, SharedListings, Sharing};
use tokio::time::Instant;

use crate::scenario::{Item, NoAnswer, scope};

fn in_seconds(seconds: u64) -> Instant {
    Instant::now() + Duration::from_secs(seconds)
}

/// C4b: the inner startup backs up its own outer one after half of its time, and serves it.
#[tokio::test(start_paused = true)]
async fn a_scope_joined_again_from_inside_its_fetch_ends_after_half_of_the_inner_time() {
    let listings = SharedListings::new();
    let begun = Instant::now();
    let outer = listings.join(&scope("docs"), Sharing::Shared, in_seconds(30), || async {
        let inner = listings.join(&scope("docs"), Sharing::Shared, in_seconds(10), || async {
            Ok::<_, NoAnswer>(Fetched::complete(vec![Item { fetched_by: 2 }]))
        });
        let inner = inner.await?;
        assert_eq!(inner.origin(), Origin::BackedUp);
        Ok::<_, JoinError<NoAnswer>>(Fetched::complete(vec![Item { fetched_by: 1 }]))
    });
    let listing = outer.await.unwrap();
    assert_eq!(begun.elapsed(), Duration::from_secs(5));
    assert_eq!(listings.in_flight(), 0);
    assert_eq!(listing.origin(), Origin::Led);
}

/// C1: another scope from inside a fetch is an ordinary startup.
#[tokio::test(start_paused = true)]
async fn another_scope_joined_from_inside_a_fetch_does_not_wait() {
    let listings = SharedListings::new();
    let begun = Instant::now();
    let outer = listings.join(&scope("docs"), Sharing::Shared, in_seconds(30), || async {
        let inner = listings.join(&scope("mail"), Sharing::Shared, in_seconds(10), || async {
            Ok::<_, NoAnswer>(Fetched::complete(vec![Item { fetched_by: 2 }]))
        });
        assert_eq!(inner.await?.origin(), Origin::Led);
        Ok::<_, JoinError<NoAnswer>>(Fetched::complete(vec![Item { fetched_by: 1 }]))
    });
    assert_eq!(outer.await.unwrap().origin(), Origin::Led);
    assert_eq!(begun.elapsed(), Duration::ZERO);
}
