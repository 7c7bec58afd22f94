//! Listings are shared, connections and their catalogs are not.

use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

use mcp_catalog::{
    Fetched, JoinError, LiveCatalog, Origin, RefreshGate, Revision, SharedListings, Sharing,
};
use tokio::time::{Instant, sleep};

use crate::scenario::{Item, NoAnswer, scope};

/// One connection to a server, as a runtime has it.
struct Connection {
    number: usize,
    catalog: LiveCatalog<Item>,
    gate: RefreshGate,
    fetches: Cell<usize>,
}

impl Connection {
    fn new(number: usize) -> Self {
        Self {
            number,
            catalog: LiveCatalog::new(),
            gate: RefreshGate::new(),
            fetches: Cell::new(0),
        }
    }

    async fn fetch(&self) -> Result<Fetched<Item>, NoAnswer> {
        self.fetches.set(self.fetches.get() + 1);
        sleep(Duration::from_millis(100)).await;
        Ok(Fetched::complete(vec![Item {
            fetched_by: self.number,
        }]))
    }

    async fn start_up(
        &self,
        listings: &SharedListings<Item>,
    ) -> Result<Origin, JoinError<NoAnswer>> {
        let ticket = self.catalog.begin();
        let deadline = Instant::now() + Duration::from_secs(30);
        let listing = listings
            .join(&scope("docs"), Sharing::Shared, deadline, || self.fetch())
            .await?;
        let origin = listing.origin();
        self.catalog
            .publish(ticket, listing.into_items())
            .expect("nothing else is published during startup");
        Ok(origin)
    }

    async fn refresh(&self) -> Revision {
        let ticket = self.catalog.begin();
        let fetched = self.gate.refresh(|| self.fetch()).await.unwrap();
        assert!(fetched.is_some(), "nobody else refreshes");
        let items = vec![Item {
            fetched_by: self.number,
        }];
        self.catalog.publish(ticket, items).unwrap()
    }

    #[track_caller]
    fn check(&self, fetches: usize, revision: u64, fetched_by: usize) {
        let snapshot = self.catalog.snapshot();
        assert_eq!(self.fetches.get(), fetches, "fetches on this connection");
        assert_eq!(snapshot.revision().to_string(), revision.to_string());
        assert_eq!(snapshot.items(), [Item { fetched_by }]);
    }
}

/// C0, C1, C7
#[tokio::test(start_paused = true)]
async fn shared_startup_listings_keep_connections_independent() {
    let listings = SharedListings::new();
    let of_another_runtime = listings.clone();
    let (first, second) = (Connection::new(1), Connection::new(2));
    let (led, shared) = tokio::join!(
        first.start_up(&listings),
        second.start_up(&of_another_runtime)
    );
    assert_eq!(
        [led.unwrap(), shared.unwrap()],
        [Origin::Led, Origin::Shared]
    );
    first.check(1, 1, 1);
    second.check(0, 1, 1);
    assert!(
        Arc::ptr_eq(
            first.catalog.snapshot().shared_items(),
            second.catalog.snapshot().shared_items()
        ),
        "one allocation"
    );

    second.refresh().await;
    first.check(1, 1, 1);
    second.check(1, 2, 2);
}

/// C2: an explicit refresh never joins, also while a startup of the same scope fetches.
#[tokio::test(start_paused = true)]
async fn an_explicit_refresh_fetches_on_its_own_connection() {
    let listings = SharedListings::new();
    let (old, new) = (Connection::new(1), Connection::new(2));
    old.start_up(&listings).await.unwrap();
    let (led, revision) = tokio::join!(new.start_up(&listings), old.refresh());
    assert_eq!(
        led.unwrap(),
        Origin::Led,
        "the refresh fetched for nobody else"
    );
    assert_eq!(revision.to_string(), "2");
    old.check(2, 2, 1);
    new.check(1, 1, 2);
}

/// C2: a change notice that came while the startup waited is still owed when it is ready.
#[tokio::test(start_paused = true)]
async fn a_change_notice_during_the_wait_owes_a_refetch() {
    let listings = SharedListings::new();
    let (first, second) = (Connection::new(1), Connection::new(2));
    let notice = async {
        sleep(Duration::from_millis(50)).await;
        second.gate.request();
    };
    let (led, shared, ()) = tokio::join!(
        first.start_up(&listings),
        second.start_up(&listings),
        notice
    );
    assert_eq!(
        [led.unwrap(), shared.unwrap()],
        [Origin::Led, Origin::Shared]
    );
    assert!(second.gate.is_owed());
    assert!(!first.gate.is_owed());
}
