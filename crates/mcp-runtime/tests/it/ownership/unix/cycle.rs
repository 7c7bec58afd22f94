//! A thousand starts and ends.

use mcp_runtime::ServerState;
use tokio::runtime::Builder;

use super::alone::alone;
use super::census::{Census, children};
use super::small_server;
use crate::host::{Host, SERVER, at_once};

const AT_ONCE: usize = 25;
const ROUNDS: usize = 40;

/// Starts servers beside one another, and ends them.
async fn round() {
    let servers = (0..AT_ONCE).map(|number| small_server(&format!("{SERVER}-{number}")));
    let host = Host::serve(servers);
    at_once(host.runtime.settled()).await;
    let states: Vec<_> = host.runtime.status();
    for status in &states {
        let state = status.state();
        assert!(matches!(state, ServerState::Ready { .. }), "{state:?}");
    }
    assert_eq!(children().len(), AT_ONCE);
    assert_eq!(host.end().await.killed(), [0; 0]);
    assert_eq!(
        children(),
        [0; 0],
        "a shutdown that is over has collected everybody"
    );
}

/// R6, R11
#[test]
fn a_thousand_starts_and_ends_leave_nothing() {
    alone(
        "ownership::unix::cycle::a_thousand_starts_and_ends_leave_nothing",
        || {
            let rounds = |count| {
                let tokio = Builder::new_multi_thread()
                    .worker_threads(2)
                    .enable_all()
                    .build();
                tokio.unwrap().block_on(async {
                    for _ in 0..count {
                        round().await;
                    }
                });
            };
            // The first one makes what a process has once and for all.
            rounds(1);
            let tokio = Builder::new_current_thread().enable_all().build().unwrap();
            let before = Census::take();
            rounds(ROUNDS);
            tokio.block_on(before.expect_again());
        },
    );
}
