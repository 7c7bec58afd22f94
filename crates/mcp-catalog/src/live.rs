//! What one connection offers right now.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arc_swap::ArcSwap;

/// The catalog of one connection: the listing accepted last, readable without a lock (rule C8).
///
/// Fetches may overlap and end in any order. Each takes a [`FetchTicket`] when it begins, and a
/// listing is accepted only when no listing of a younger ticket was accepted before it. A fetch
/// that fails publishes nothing, so the last good listing stays.
///
/// A catalog belongs to one connection; its tickets mean nothing to another catalog.
pub struct LiveCatalog<T> {
    current: ArcSwap<CatalogSnapshot<T>>,
    last_ticket: AtomicU64,
}

/// One accepted listing. It never changes; a later listing makes a new snapshot.
pub struct CatalogSnapshot<T> {
    revision: Revision,
    ticket: u64,
    items: Arc<[T]>,
}

/// Proof that a fetch began, and when it did compared with other fetches of the same catalog.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
#[must_use = "a fetch publishes with the ticket it took when it began"]
pub struct FetchTicket(u64);

/// Counts the listings a catalog accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Revision(u64);

/// A listing was refused: one whose fetch began later is in place already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("listing refused: revision {in_place} came from a fetch that began later, so keep it")]
pub struct Stale {
    in_place: Revision,
}

impl<T> LiveCatalog<T> {
    /// A catalog to which nothing was published yet.
    #[must_use]
    pub fn new() -> Self {
        let unpublished = CatalogSnapshot {
            revision: Revision::UNPUBLISHED,
            ticket: 0,
            items: Arc::default(),
        };
        Self {
            current: ArcSwap::from_pointee(unpublished),
            last_ticket: AtomicU64::new(0),
        }
    }

    /// Takes the ticket of a fetch. Call it before the first request goes out, and before
    /// [`SharedListings::join`](crate::SharedListings::join) for a listing that may be shared.
    pub fn begin(&self) -> FetchTicket {
        FetchTicket(self.last_ticket.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// Puts a listing in place and says which revision it became.
    ///
    /// # Errors
    ///
    /// [`Stale`] when a listing of a younger ticket was accepted before; nothing changes then.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "a ticket is good for one publication"
    )]
    pub fn publish(
        &self,
        ticket: FetchTicket,
        items: impl Into<Arc<[T]>>,
    ) -> Result<Revision, Stale> {
        let FetchTicket(ticket) = ticket;
        let items = items.into();
        let mut seen = self.current.load();
        loop {
            if seen.ticket > ticket {
                return Err(Stale {
                    in_place: seen.revision,
                });
            }
            let revision = seen.revision.next();
            let next = CatalogSnapshot {
                revision,
                ticket,
                items: Arc::clone(&items),
            };
            let before = self.current.compare_and_swap(&*seen, Arc::new(next));
            if Arc::ptr_eq(&before, &seen) {
                return Ok(revision);
            }
            seen = before;
        }
    }

    /// The listing in place now. Takes no lock and copies no item.
    #[must_use]
    pub fn snapshot(&self) -> Arc<CatalogSnapshot<T>> {
        self.current.load_full()
    }
}

impl<T> CatalogSnapshot<T> {
    /// Which listing this is.
    #[must_use]
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// The items in the order in which they were listed; none before the first publication.
    #[must_use]
    pub fn items(&self) -> &[T] {
        &self.items
    }

    /// The same items as the one allocation that every holder of the listing shares (rule C7).
    #[must_use]
    pub fn shared_items(&self) -> &Arc<[T]> {
        &self.items
    }
}

impl Revision {
    /// Before the first publication.
    pub const UNPUBLISHED: Self = Self(0);

    /// Whether any listing was accepted. An empty catalog of an answering server is published.
    #[must_use]
    pub fn is_published(self) -> bool {
        self != Self::UNPUBLISHED
    }

    fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

impl Stale {
    /// The revision that stays in place.
    #[must_use]
    pub fn in_place(&self) -> Revision {
        self.in_place
    }
}

// === impl ===

impl<T> Default for LiveCatalog<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> fmt::Debug for LiveCatalog<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let current = self.current.load();
        f.debug_struct("LiveCatalog")
            .field("current", &*current)
            .finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for CatalogSnapshot<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CatalogSnapshot")
            .field("revision", &self.revision)
            .field("items", &self.items.len())
            .finish_non_exhaustive()
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests;
