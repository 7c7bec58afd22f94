//! What identity costs: naming a tool, indexing the tools of a binding, finding one of them.

use std::hint::black_box;
use std::time::Duration;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use mcp_keys::{McpServerKey, NameProfile, ToolKey, ToolNameIndex};

/// 100,000 tools of 200 servers, half of them in environments, in no helpful order. Every fourth tool name
/// is not plain, so that it costs a hash.
fn keys() -> Vec<ToolKey> {
    let mut keys = Vec::with_capacity(100_000);
    for number in 0..100_000 {
        // 48271 has no factor in common with 100,000: every pair of server and tool comes once.
        let shuffled = number * 48_271 % 100_000;
        let (server, tool) = (shuffled % 200, shuffled / 200);
        let name = format!("server-{server}").parse().expect("a valid name");
        let server = match server % 2 {
            0 => McpServerKey::host(name),
            _ => {
                let id = format!("environment-{}", server % 5)
                    .parse()
                    .expect("a valid id");
                McpServerKey::in_environment(id, name)
            }
        };
        let tool = match tool % 4 {
            0 => format!("files.read {tool}"),
            _ => format!("read_file_{tool}"),
        };
        keys.push(ToolKey::new(server, tool.parse().expect("a valid name")));
    }
    keys
}

fn name(c: &mut Criterion) {
    let profile = NameProfile::default();
    for (what, server, tool) in [
        ("plain", r#""server":"docs""#, "search"),
        (
            "server hashed",
            r#""server":"docs","environment_id":"devbox""#,
            "search",
        ),
        (
            "both hashed",
            r#""server":"docs","environment_id":"devbox""#,
            "files.read range",
        ),
    ] {
        let json = format!(r#"{{{server},"tool":"{tool}"}}"#);
        let key: ToolKey = serde_json::from_str(&json).expect("a valid key");
        c.bench_function(&format!("name/{what}"), |b| {
            b.iter(|| profile.name(black_box(&key)));
        });
    }
}

fn index(c: &mut Criterion) {
    let profile = NameProfile::default();
    let keys = keys();
    let mut group = c.benchmark_group("index of 100,000");
    group.sample_size(20);
    group.bench_function("build", |b| {
        b.iter_batched(
            || keys.clone(),
            |keys| ToolNameIndex::build(&profile, keys),
            BatchSize::LargeInput,
        );
    });
    group.finish();
}

fn lookup(c: &mut Criterion) {
    let index = ToolNameIndex::build(&NameProfile::default(), keys());
    // A model calls tools in any order: walk the names so that no two lookups share a cache line, over few
    // enough of them that the walk itself costs nothing.
    let names: Vec<_> = index
        .iter()
        .map(|(_, name)| name.clone())
        .step_by(97)
        .collect();
    let keys: Vec<_> = index
        .iter()
        .map(|(key, _)| key.clone())
        .step_by(97)
        .collect();
    let mut group = c.benchmark_group("index of 100,000");
    let mut at = 0;
    let mut next = move |count: usize| {
        at = (at + 389) % count;
        at
    };
    group.bench_function("by_flat", |b| {
        b.iter(|| index.by_flat(black_box(names[next(names.len())].flat())));
    });
    group.bench_function("by_parts", |b| {
        b.iter(|| {
            let name = &names[next(names.len())];
            index.by_parts(black_box(name.namespace()), black_box(name.name()))
        });
    });
    group.bench_function("name_of", |b| {
        b.iter(|| index.name_of(black_box(&keys[next(keys.len())])));
    });
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().measurement_time(Duration::from_secs(3)).warm_up_time(Duration::from_secs(1));
    targets = name, index, lookup
}
criterion_main!(benches);
