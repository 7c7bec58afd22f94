//! Which listing is in place, whatever order fetches end in.

use std::sync::Arc;

use super::{FetchTicket, LiveCatalog, Revision};

/// An item that cannot be cloned: nothing here may need that.
#[derive(Debug, PartialEq)]
struct Item(&'static str);

fn publish(
    catalog: &LiveCatalog<Item>,
    ticket: FetchTicket,
    name: &'static str,
) -> Result<u64, u64> {
    catalog
        .publish(ticket, vec![Item(name)])
        .map(|revision| revision.0)
        .map_err(|stale| stale.in_place().0)
}

#[track_caller]
fn check(catalog: &LiveCatalog<Item>, revision: u64, items: &[Item]) {
    let snapshot = catalog.snapshot();
    assert_eq!(snapshot.revision(), Revision(revision));
    assert_eq!(snapshot.items(), items);
}

/// C8
#[test]
fn nothing_published_is_not_the_same_as_an_empty_listing() {
    let catalog = LiveCatalog::<Item>::new();
    check(&catalog, 0, &[]);
    assert!(!catalog.snapshot().revision().is_published());

    let ticket = catalog.begin();
    assert_eq!(catalog.publish(ticket, vec![]), Ok(Revision(1)));
    check(&catalog, 1, &[]);
    assert!(catalog.snapshot().revision().is_published());
}

/// C8
#[test]
fn a_fetch_that_began_earlier_never_replaces_one_that_began_later() {
    let catalog = LiveCatalog::new();
    let (slow, quick) = (catalog.begin(), catalog.begin());
    assert_eq!(publish(&catalog, quick, "new"), Ok(1));
    assert_eq!(publish(&catalog, slow, "old"), Err(1));
    check(&catalog, 1, &[Item("new")]);
}

/// C8
#[test]
fn fetches_that_end_in_order_are_all_accepted() {
    let catalog = LiveCatalog::new();
    let (first, second) = (catalog.begin(), catalog.begin());
    assert_eq!(publish(&catalog, first, "a"), Ok(1));
    assert_eq!(publish(&catalog, second, "b"), Ok(2));
    check(&catalog, 2, &[Item("b")]);
}

/// C8
#[test]
fn a_failed_refresh_leaves_the_last_good_listing() {
    let catalog = LiveCatalog::new();
    let good = catalog.begin();
    assert_eq!(publish(&catalog, good, "good"), Ok(1));
    drop(catalog.begin());
    check(&catalog, 1, &[Item("good")]);
    let next = catalog.begin();
    assert_eq!(publish(&catalog, next, "next"), Ok(2));
}

/// C7
#[test]
fn the_listing_that_was_published_is_the_allocation_that_is_read() {
    let catalog = LiveCatalog::new();
    let items: Arc<[Item]> = vec![Item("one")].into();
    let ticket = catalog.begin();
    catalog.publish(ticket, Arc::clone(&items)).unwrap();
    assert!(Arc::ptr_eq(catalog.snapshot().shared_items(), &items));
}

/// C8
#[test]
fn a_snapshot_in_hand_outlives_later_listings() {
    let catalog = LiveCatalog::new();
    let first = catalog.begin();
    assert_eq!(publish(&catalog, first, "first"), Ok(1));
    let held = catalog.snapshot();
    let second = catalog.begin();
    assert_eq!(publish(&catalog, second, "second"), Ok(2));
    assert_eq!(held.items(), [Item("first")]);
}

/// C8: revisions count up by one and the youngest ticket wins, however many threads publish.
#[test]
fn concurrent_publications_end_with_the_youngest_ticket() {
    for _ in 0..200 {
        let catalog = LiveCatalog::<u64>::new();
        let tickets: Vec<_> = (0..4).map(|_| catalog.begin()).collect();
        let youngest = tickets.iter().map(|ticket| ticket.0).max().unwrap();
        let accepted = std::thread::scope(|scope| {
            let threads: Vec<_> = tickets
                .into_iter()
                .map(|ticket| {
                    let (catalog, value) = (&catalog, ticket.0);
                    scope.spawn(move || catalog.publish(ticket, vec![value]))
                })
                .collect();
            let results = threads.into_iter().map(|thread| thread.join().unwrap());
            results.filter(Result::is_ok).count()
        });
        let last = catalog.snapshot();
        assert_eq!(last.items(), [youngest]);
        assert_eq!(last.revision().0, accepted as u64);
    }
}
