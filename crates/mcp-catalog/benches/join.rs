//! What joining a flight costs, by how many wait in it already (rule C7).

use std::future::{Future, pending};
use std::hint::black_box;
use std::pin::Pin;
use std::task::{Context, Waker};
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use mcp_catalog::{
    CredentialIdentity, DiscoveryClient, DiscoveryHandshake, DiscoveryScope, DiscoveryScopeBuilder,
    DiscoveryTransport, Fetched, SharedListings, Sharing,
};
use mcp_keys::{McpServerKey, ServerName};
use tokio::time::Instant;

fn scope() -> DiscoveryScope {
    let name = ServerName::new("docs").expect("a valid name");
    DiscoveryScopeBuilder::new(
        &McpServerKey::host(name),
        "local",
        &DiscoveryTransport::stdio("docs-server", ["--stdio"], None, [("PATH", "/usr/bin")]),
        CredentialIdentity::None,
        &DiscoveryClient::new("host", "1.0", "{}"),
        &DiscoveryHandshake::new("legacy", "2025-11-25", "{}", r#"{"tools":{}}"#),
    )
    .build()
}

type Waiting = Pin<Box<dyn Future<Output = ()>>>;

/// A flight whose leader fetches and in which that many wait.
fn flight(scope: &DiscoveryScope, waiters: usize) -> (SharedListings<u8>, Vec<Waiting>) {
    let listings = SharedListings::new();
    let deadline = Instant::now() + Duration::from_secs(3600);
    let seats = (0..=waiters).map(|_| {
        let join = listings.join(scope, Sharing::Shared, deadline, || async {
            pending::<()>().await;
            Ok::<Fetched<u8>, ()>(Fetched::complete(vec![]))
        });
        let mut waiting: Waiting = Box::pin(async move { drop(join.await) });
        let polled = waiting
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()));
        assert!(polled.is_pending());
        waiting
    });
    let seats = seats.collect();
    (listings, seats)
}

fn join(criterion: &mut Criterion) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("a runtime");
    let _inside = runtime.enter();
    let scope = scope();
    let deadline = Instant::now() + Duration::from_secs(3600);

    let mut group = criterion.benchmark_group("join an existing flight and leave");
    for waiters in [0, 100, 10_000] {
        let (listings, _seats) = flight(&scope, waiters);
        let join = || {
            listings.join(black_box(&scope), Sharing::Shared, deadline, || async {
                Ok::<Fetched<u8>, ()>(Fetched::complete(vec![]))
            })
        };
        group.bench_function(BenchmarkId::new("unpolled", waiters), |bencher| {
            bencher.iter(|| drop(join()));
        });
        group.bench_function(BenchmarkId::new("polled once", waiters), |bencher| {
            bencher.iter(|| {
                let mut joined = Box::pin(join());
                let polled = joined
                    .as_mut()
                    .poll(&mut Context::from_waker(Waker::noop()));
                assert!(polled.is_pending());
            });
        });
    }
    group.finish();

    criterion.bench_function("build a scope", |bencher| {
        bencher.iter(self::scope);
    });
}

criterion_group!(benches, join);
criterion_main!(benches);
