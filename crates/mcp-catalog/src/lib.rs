//! One listing shared by all startups that overlap, and live catalogs with revisions.
//!
//! A process that starts ten agents at once connects to each server ten times, and asks each ten times for
//! the same long list. Sharing one answer is easy until the startup that asks fails, hangs or is dropped while
//! nine others wait for it. Here every startup keeps its own connection and its own deadline: it ends with the
//! shared listing, its own error or its own timeout, and never with the failure of another.
//!
//! ```
//! use std::time::Duration;
//!
//! use mcp_catalog::{
//!     CredentialIdentity, DiscoveryClient, DiscoveryHandshake, DiscoveryScopeBuilder,
//!     DiscoveryTransport, Fetched, LiveCatalog, Origin, SharedListings, Sharing,
//! };
//! use mcp_keys::{McpServerKey, ServerName};
//! use tokio::time::Instant;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // What decides what the server lists. Startups share only when all of it is equal.
//! let scope = DiscoveryScopeBuilder::new(
//!     &McpServerKey::host(ServerName::new("docs")?),
//!     "local",
//!     &DiscoveryTransport::stdio("docs-server", ["--stdio"], None, [("LANG", "C")]),
//!     CredentialIdentity::None,
//!     &DiscoveryClient::new("host", "1.0", "{}"),
//!     &DiscoveryHandshake::new("legacy", "2025-11-25", "{}", r#"{"tools":{}}"#),
//! )
//! .build();
//!
//! // One for the process; one catalog for each connection.
//! let listings = SharedListings::<String>::new();
//! let catalog = LiveCatalog::new();
//!
//! let ticket = catalog.begin();
//! let deadline = Instant::now() + Duration::from_secs(30);
//! let listing = listings
//!     .join(&scope, Sharing::Shared, deadline, || async {
//!         // Asks the server over this startup's own connection.
//!         Ok::<_, std::io::Error>(Fetched::complete(vec!["search".to_owned()]))
//!     })
//!     .await?;
//!
//! assert_eq!(listing.origin(), Origin::Led);
//! catalog.publish(ticket, listing.into_items())?;
//! assert_eq!(catalog.snapshot().items(), ["search"]);
//! # Ok(())
//! # }
//! ```
//!
//! - [`SharedListings`] shares a listing in the making; [`DiscoveryScope`] says between whom.
//! - [`LiveCatalog`] keeps what one connection offers now; a late answer never replaces a newer one.
//! - [`RefreshGate`] turns a burst of change notices into one fetch, and one more.
//!
//! # What this crate does not do
//!
//! It connects to nothing, sends nothing and spawns nothing: every fetch is the caller's own future, polled in
//! the caller's own task. It keeps no listing that is finished, so it is no cache. What is listed is up to the
//! caller; items are never cloned.

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

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeDoctests;
