//! The startups themselves. The gate at which listings wait is a shell script.

mod crowd;
mod gated;
mod leading;
mod outside;
mod scope;

use mcp_runtime::{ListingShare, ServerConfig, ServerState};

use crate::host::{Host, SERVER, at_once, builder};

/// Begins to start one server in a runtime of its own that shares its listings.
fn begin(share: &ListingShare, server: ServerConfig) -> Host {
    Host::begin(builder().share_listings(share).server(server))
}

/// Waits until a startup has ended well; whether its listing came from another.
async fn shared(host: &Host) -> bool {
    at_once(host.runtime.settled()).await;
    match host.state(SERVER) {
        ServerState::Ready { shared, .. } => shared,
        state => panic!("the server is not ready: {state:?}"),
    }
}

/// As [`shared`], of many; how many of them took the listing of another.
async fn count_shared(hosts: &[Host]) -> usize {
    let mut count = 0;
    for host in hosts {
        count += usize::from(shared(host).await);
    }
    count
}

async fn end(hosts: &[Host]) {
    for host in hosts {
        host.end().await;
    }
}
