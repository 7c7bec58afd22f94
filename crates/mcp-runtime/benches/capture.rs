//! What a step pays for its binding: a hundred servers with a thousand tools each (B1).
//!
//! The program starts itself once more for each server, which answers from a file.

mod bench_server;

use std::error::Error;
use std::hint::black_box;
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;
use std::{env, fs};

use bench_server::{listing_of, resident, serve, spread};
use mcp_runtime::{ApprovalPolicy, Era, McpRuntime, ServerConfig, ServerState, StdioTransport};
use tempfile::TempDir;
use tokio::time::Instant;

type Outcome<T> = Result<T, Box<dyn Error>>;

const SERVERS: usize = 100;
const TOOLS: usize = 1_000;
/// Odd, so that a median is one of the figures.
const ROUNDS: usize = 9;
const CAPTURES: u32 = 10_000;

fn main() -> Outcome<()> {
    let args: Vec<String> = env::args().skip(1).collect();
    match args.as_slice() {
        [command, listing] if command == "serve" => Ok(serve(Path::new(listing))?),
        _ => measure(),
    }
}

#[tokio::main]
async fn measure() -> Outcome<()> {
    let dir = TempDir::with_prefix("capture-bench-")?;
    let listing = dir.path().join("listing.json");
    fs::write(&listing, listing_of(TOOLS)?)?;
    let runtime = start(&listing).await?;
    let first = Instant::now();
    let binding = runtime.capture();
    let first = first.elapsed();
    assert_eq!(binding.tools().len(), SERVERS * TOOLS);

    let before = resident()?;
    let warm: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let begun = Instant::now();
            for _ in 0..CAPTURES {
                black_box(runtime.capture());
            }
            begun.elapsed().as_secs_f64() * 1e6 / f64::from(CAPTURES)
        })
        .collect();
    let grown = resident()? - before;

    let mut anew = Vec::new();
    for _ in 0..ROUNDS {
        runtime.refresh("server-0").await?;
        let begun = Instant::now();
        black_box(runtime.capture());
        anew.push(begun.elapsed().as_secs_f64() * 1e3);
    }
    let mut out = io::stdout().lock();
    writeln!(
        out,
        "{SERVERS} servers, {} tools: median (lowest to highest)",
        SERVERS * TOOLS
    )?;
    writeln!(out, "first capture {:.1} ms", first.as_secs_f64() * 1e3)?;
    writeln!(
        out,
        "capture when nothing changed {} us",
        spread(warm.into_iter())
    )?;
    writeln!(
        out,
        "memory after {ROUNDS} times {CAPTURES} of them {grown:+} KiB"
    )?;
    writeln!(
        out,
        "capture after one server listed again {} ms",
        spread(anew.into_iter())
    )?;
    runtime.shutdown(McpRuntime::DEFAULT_SHUTDOWN_TIMEOUT).await;
    Ok(())
}

async fn start(listing: &Path) -> Outcome<McpRuntime> {
    let program = env::current_exe()?;
    let program = program.to_str().ok_or("the program's path is no text")?;
    let listing = listing.to_str().ok_or("the listing's path is no text")?;
    let mut builder = McpRuntime::builder(ApprovalPolicy::approve_all());
    for number in 0..SERVERS {
        let transport = StdioTransport::new(program).args(["serve", listing]);
        let server = ServerConfig::stdio(format!("server-{number}").parse()?, transport);
        let patience = Duration::from_secs(120);
        builder = builder.server(server.era(Era::Legacy).startup_timeout(patience));
    }
    let (runtime, _events) = builder.start()?;
    runtime.settled().await;
    let status = runtime.status();
    let is_ready = |state: &ServerState| matches!(state, ServerState::Ready { .. });
    match status.iter().find(|server| !is_ready(server.state())) {
        None => Ok(runtime),
        Some(server) => Err(format!("a server is not ready: {server:?}").into()),
    }
}
