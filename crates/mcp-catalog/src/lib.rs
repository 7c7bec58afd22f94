//! One listing shared by all startups that overlap, and live catalogs with revisions.

mod encoding;
mod flight;
mod listing;
mod live;
mod patience;
mod refresh;
mod scope;
mod sharing;
mod sync;

pub use listing::{Fetched, Listing, Origin};
pub use live::{CatalogSnapshot, FetchTicket, LiveCatalog, Revision, Stale};
pub use refresh::{RefreshGate, RefreshTurn};
pub use scope::{
    CredentialIdentity, DiscoveryClient, DiscoveryHandshake, DiscoveryScope, DiscoveryScopeBuilder,
    DiscoveryTransport,
};
pub use sharing::{JoinError, JoinTimeout, SharedListings, Sharing};
