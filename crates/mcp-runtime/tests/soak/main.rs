//! A hundred servers that misbehave, and as many calls as there is time for: every call ends once, whatever its server
//! does, and nothing is left behind (R7, R9, R10, R11, B4).
//!
//! A process of its own: it counts what the process holds. `cargo xtask soak` runs it for long.
#![cfg(test)]

mod ending;
mod endpoint;
mod fault;
mod fleet;
mod gauge;
mod ledger;
mod size;

use std::sync::Arc;

use fleet::Fleet;
use gauge::Gauge;
use ledger::Ledger;
use size::Size;

/// Looks at what is held: after each of so many parts of the calls.
const STAGES: usize = 4;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_call_ends_once_and_nothing_is_left() {
    let size = Size::of_this_run();
    let ledger = Arc::new(Ledger::new(size));
    // What is made once for a process is made before anything is counted.
    let rehearsal = Size {
        servers: 10,
        ..size
    };
    Fleet::start(rehearsal).await.end().await;
    let before = Gauge::reached(|gauge| gauge.tasks + gauge.children == 0).await;

    let fleet = Fleet::start(size).await;
    let idle = Gauge::steady().await;
    let mut gauges = Vec::new();
    for stage in 0..STAGES {
        let upto = |stage| size.calls * stage / STAGES;
        fleet.call(upto(stage)..upto(stage + 1), &ledger).await;
        gauges.push(fleet.at_rest(idle).await);
    }
    let seen = fleet.end().await;

    ledger.report(&[[before, idle].as_slice(), &gauges].concat());
    ledger.check(&seen);
    // The first half has met everything that is kept for the next time.
    gauges[STAGES / 2 - 1].check_flat(gauges[STAGES - 1]);
    idle.check_flat(Gauge {
        memory: 0,
        ..gauges[STAGES - 1]
    });
    before.check_gone().await;
}
