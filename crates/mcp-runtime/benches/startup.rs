//! Fifty startups of one server that lists a thousand tools: their wall time and memory, by who lists.
//!
//! The program starts itself again for each measurement, so that no memory is left over from the one before, and once
//! more for each server, which answers from a file and costs next to nothing.

mod bench_server;

use std::error::Error;
use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;
use std::{env, fs};

use bench_server::{listing_of, resident, serve, spread};
use futures_util::future::join_all;
use mcp_runtime::{
    ApprovalPolicy, Era, ListingShare, McpRuntime, ServerConfig, ServerName, ServerState,
    StdioTransport,
};
use rmcp::ServiceExt;
use rmcp::transport::TokioChildProcess;
use tempfile::TempDir;
use tokio::time::Instant;

type Outcome<T> = Result<T, Box<dyn Error>>;

const STARTUPS: usize = 50;
const TOOLS: usize = 1_000;
/// Odd, so that a median is one of the figures.
const ROUNDS: usize = 9;

/// rmcp alone; this crate with a listing for each startup; with one for all; and with that and a binding captured by each.
const VARIANTS: [&str; 4] = ["rmcp", "unshared", "shared", "shared-captured"];

/// What one measurement found.
#[derive(Debug, Clone, Copy)]
struct Figures {
    milliseconds: f64,
    mebibytes: f64,
}

fn main() -> Outcome<()> {
    let args: Vec<String> = env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args.as_slice() {
        ["serve", listing] => Ok(serve(Path::new(listing))?),
        ["measure", variant, listing] => {
            let figures = measure(variant, listing)?;
            writeln!(
                io::stdout(),
                "{} {}",
                figures.milliseconds,
                figures.mebibytes
            )?;
            Ok(())
        }
        _ => compare(),
    }
}

/// Runs every variant in every round, each round beginning with another one, and prints what came out.
fn compare() -> Outcome<()> {
    let dir = TempDir::with_prefix("startup-bench-")?;
    let listing = dir.path().join("listing.json");
    fs::write(&listing, listing_of(TOOLS)?)?;
    let mut rounds = Vec::new();
    for round in 0..ROUNDS {
        let mut figures = [None; VARIANTS.len()];
        for turn in 0..VARIANTS.len() {
            let variant = (round + turn) % VARIANTS.len();
            figures[variant] = Some(measure_apart(VARIANTS[variant], &listing)?);
        }
        rounds.push(figures.map(|figures| figures.expect("every variant had its turn")));
    }
    let mut out = io::stdout().lock();
    writeln!(
        out,
        "{STARTUPS} startups, {TOOLS} tools in {} bytes, {ROUNDS} rounds: median (lowest to highest)",
        fs::metadata(&listing)?.len()
    )?;
    for (index, variant) in VARIANTS.iter().enumerate() {
        let of =
            |figure: fn(Figures) -> f64| spread(rounds.iter().map(|round| figure(round[index])));
        let to_rmcp = |figure: fn(Figures) -> f64| {
            spread(
                rounds
                    .iter()
                    .map(|round| figure(round[index]) / figure(round[0])),
            )
        };
        writeln!(
            out,
            "{variant:>16}  wall {} ms, of rmcp's {}",
            of(|figures| figures.milliseconds),
            to_rmcp(|figures| figures.milliseconds)
        )?;
        writeln!(
            out,
            "{:>16}  memory {} MiB, of rmcp's {}",
            "",
            of(|figures| figures.mebibytes),
            to_rmcp(|figures| figures.mebibytes)
        )?;
    }
    Ok(())
}

/// A measurement in a process of its own.
fn measure_apart(variant: &str, listing: &Path) -> Outcome<Figures> {
    let output = Command::new(env::current_exe()?)
        .args(["measure", variant])
        .arg(listing)
        .stderr(Stdio::inherit())
        .output()?;
    let text = String::from_utf8(output.stdout)?;
    let (milliseconds, mebibytes) = text
        .trim()
        .split_once(' ')
        .ok_or_else(|| format!("measuring {variant} ended with {}", output.status))?;
    Ok(Figures {
        milliseconds: milliseconds.parse()?,
        mebibytes: mebibytes.parse()?,
    })
}

#[tokio::main]
async fn measure(variant: &str, listing: &str) -> Outcome<Figures> {
    let program = env::current_exe()?;
    let program = program.to_str().ok_or("the program's path is no text")?;
    let before = resident()?;
    let begun = Instant::now();
    // What is started is held until the memory has been read.
    let (elapsed, after) = match variant {
        "rmcp" => {
            let _clients = start_rmcp(program, listing).await?;
            (begun.elapsed(), resident()?)
        }
        "unshared" | "shared" => {
            let _runtimes = start_ours(program, listing, variant == "shared").await?;
            (begun.elapsed(), resident()?)
        }
        "shared-captured" => {
            let runtimes = start_ours(program, listing, true).await?;
            let _bindings: Vec<_> = runtimes.iter().map(McpRuntime::capture).collect();
            (begun.elapsed(), resident()?)
        }
        other => return Err(format!("there is no variant {other}").into()),
    };
    Ok(Figures {
        milliseconds: elapsed.as_secs_f64() * 1_000.0,
        mebibytes: (after - before) / 1_024.0,
    })
}

/// Clients as rmcp offers them, each with its own listing.
async fn start_rmcp(program: &str, listing: &str) -> Outcome<Vec<impl Sized>> {
    let startups = (0..STARTUPS).map(|_| {
        let mut command = tokio::process::Command::new(program);
        command.args(["serve", listing]);
        tokio::spawn(async move {
            let client = ().serve(TokioChildProcess::new(command)?).await?;
            let tools = client.list_all_tools().await?;
            Ok::<_, Box<dyn Error + Send + Sync>>((client, tools))
        })
    });
    let mut clients = Vec::new();
    for started in join_all(startups).await {
        let (client, tools) = started?.map_err(|error| error.to_string())?;
        check(tools.len())?;
        clients.push((client, tools));
    }
    Ok(clients)
}

/// Runtimes of one host, each with its own connection.
async fn start_ours(program: &str, listing: &str, share_listing: bool) -> Outcome<Vec<McpRuntime>> {
    let share = ListingShare::default();
    let mut runtimes = Vec::new();
    for _ in 0..STARTUPS {
        let transport = StdioTransport::new(program).args(["serve", listing]);
        let server = ServerConfig::stdio(ServerName::new("bench")?, transport)
            .era(Era::Legacy)
            .share_listing(share_listing)
            .startup_timeout(Duration::from_secs(120));
        let builder = McpRuntime::builder(ApprovalPolicy::approve_all())
            .share_listings(&share)
            .server(server);
        let (runtime, _events) = builder.start()?;
        runtimes.push(runtime);
    }
    join_all(runtimes.iter().map(McpRuntime::settled)).await;
    for runtime in &runtimes {
        match runtime.status()[0].state() {
            ServerState::Ready { tools, .. } => check(*tools)?,
            state => return Err(format!("a server is not ready: {state:?}").into()),
        }
    }
    Ok(runtimes)
}

fn check(tools: usize) -> Outcome<()> {
    if tools == TOOLS {
        Ok(())
    } else {
        Err(format!("{tools} tools instead of {TOOLS}").into())
    }
}
