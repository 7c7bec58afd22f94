//! Catalog isolation across discovery scopes.

use std::time::Duration;

use mcp_catalog::Origin::{Alone, Led};
use mcp_catalog::{CredentialIdentity, Fetched, SharedListings, Sharing};
use tokio::time::Instant;

use crate::scenario::{End, Fetch, Item, NoAnswer, Startup, check, scope_for};

/// C5
#[tokio::test(start_paused = true)]
async fn different_scopes_never_share() {
    check(
        [
            Startup::new(Fetch::Lists(100)).scope("docs"),
            Startup::new(Fetch::Lists(200)).scope("mail"),
            Startup::new(Fetch::Lists(300)).scope("docs").begins(1),
            Startup::new(Fetch::Lists(300)).scope("mail").begins(1),
        ],
        [
            End::Own(Led, 100),
            End::Own(Led, 200),
            End::Took(0, 100),
            End::Took(1, 200),
        ],
        &[(0, 0), (1, 0)],
    )
    .await;
}

/// C5: a failure in one scope is nothing to another.
#[tokio::test(start_paused = true)]
async fn a_failure_stays_in_its_scope() {
    check(
        [
            Startup::new(Fetch::Fails(100)).scope("docs"),
            Startup::new(Fetch::Lists(200)).scope("mail"),
        ],
        [End::Failed(100), End::Own(Led, 200)],
        &[(0, 0), (1, 0)],
    )
    .await;
}

/// C5: two accounts, or an account nobody knows.
#[tokio::test(start_paused = true)]
async fn accounts_do_not_share() {
    use CredentialIdentity::{Known, None, Unknown};
    for (first, second, origins) in [
        (None, None, [Led, mcp_catalog::Origin::Shared]),
        (
            Known(b"ann"),
            Known(b"ann"),
            [Led, mcp_catalog::Origin::Shared],
        ),
        (Known(b"ann"), Known(b"bob"), [Led, Led]),
        (Known(b"ann"), None, [Led, Led]),
        (Unknown, Unknown, [Alone, Alone]),
        (Unknown, None, [Alone, Led]),
    ] {
        let listings = SharedListings::new();
        let deadline = Instant::now() + Duration::from_secs(30);
        let join = |credential| {
            let scope = scope_for("docs", credential);
            listings.join(&scope, Sharing::Shared, deadline, || async {
                tokio::task::yield_now().await;
                Ok::<_, NoAnswer>(Fetched::complete(vec![Item { fetched_by: 0 }]))
            })
        };
        let (left, right) = tokio::join!(join(first), join(second));
        let found = [left, right].map(|listing| listing.unwrap().origin());
        assert_eq!(found, origins, "{first:?} and {second:?}");
    }
}
