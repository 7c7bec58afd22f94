//! What a fetch returns, and what a startup gets.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// What a startup's own fetch returned.
pub struct Fetched<T> {
    items: Arc<[T]>,
    cut_short: bool,
}

/// The listing a startup ends with: one allocation, shared with everyone who got it (rule C7).
pub struct Listing<T> {
    items: Arc<[T]>,
    origin: Origin,
    cut_short: bool,
    waited: Duration,
}

/// How a startup came by its listing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Origin {
    /// It fetched first, for everyone.
    Led,
    /// It waited, and fetched when the startup that did so before failed or was dropped (rule C4).
    TookOver,
    /// It waited, and fetched beside a startup that took too long (rule C4b).
    BackedUp,
    /// Another startup fetched.
    Shared,
    /// It fetched for itself only: it opted out, its scope cannot be shared, or the server's listing
    /// turned out to be cut short (rules C5 and C6).
    Alone,
}

impl<T> Fetched<T> {
    /// Everything the server lists.
    pub fn complete(items: impl Into<Arc<[T]>>) -> Self {
        Self {
            items: items.into(),
            cut_short: false,
        }
    }

    /// A listing that was cut short (rule R8). It is for the startup that fetched it, and never
    /// shared (rule C6).
    pub fn cut_short(items: impl Into<Arc<[T]>>) -> Self {
        Self {
            items: items.into(),
            cut_short: true,
        }
    }

    pub(crate) fn is_cut_short(&self) -> bool {
        self.cut_short
    }

    pub(crate) fn share(&self) -> Arc<[T]> {
        Arc::clone(&self.items)
    }

    pub(crate) fn into_listing(self, origin: Origin, waited: Duration) -> Listing<T> {
        Listing {
            items: self.items,
            origin,
            cut_short: self.cut_short,
            waited,
        }
    }
}

impl<T> Listing<T> {
    pub(crate) fn shared(items: Arc<[T]>, waited: Duration) -> Self {
        Self {
            items,
            origin: Origin::Shared,
            cut_short: false,
            waited,
        }
    }

    /// The items in the order in which the server listed them.
    #[must_use]
    pub fn items(&self) -> &[T] {
        &self.items
    }

    /// The allocation itself, for
    /// [`LiveCatalog::publish`](crate::LiveCatalog::publish).
    #[must_use]
    pub fn into_items(self) -> Arc<[T]> {
        self.items
    }

    /// Whether this startup fetched, and in which role.
    #[must_use]
    pub fn origin(&self) -> Origin {
        self.origin
    }

    /// Whether the server listed more than was read (rule R8). Never true for a shared listing.
    #[must_use]
    pub fn is_cut_short(&self) -> bool {
        self.cut_short
    }

    /// How long this startup waited for others before it got their listing or began its own fetch.
    #[must_use]
    pub fn waited(&self) -> Duration {
        self.waited
    }
}

impl Origin {
    /// Whether the listing came over another startup's connection.
    #[must_use]
    pub fn is_shared(self) -> bool {
        self == Self::Shared
    }
}

// === impl ===

impl<T> fmt::Debug for Fetched<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fetched")
            .field("items", &self.items.len())
            .field("cut_short", &self.cut_short)
            .finish()
    }
}

impl<T> fmt::Debug for Listing<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listing")
            .field("items", &self.items.len())
            .field("origin", &self.origin)
            .field("cut_short", &self.cut_short)
            .field("waited", &self.waited)
            .finish()
    }
}
