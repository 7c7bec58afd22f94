//! A host with many servers, and many callers.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mcp_runtime::{
    ApprovalPolicy, CallOptions, Era, ErrorChain, HttpTransport, McpRuntime, PrepareErrorKind,
    PreparedCall, ReconnectPolicy, RuntimeEvent, ServerConfig, ServerState, StdioTransport,
};
use mcp_testkit::{Random, ServerProcess};
use serde_json::json;
use serde_json::value::to_raw_value;
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{sleep, timeout};

use crate::ending::Ending;
use crate::endpoint::Endpoint;
use crate::fault::{Fault, OF_ENDPOINTS, OF_PROCESSES, Patience, script};
use crate::gauge::Gauge;
use crate::ledger::Ledger;
use crate::size::Size;

/// Every so many servers, one is an endpoint.
const ENDPOINT_EVERY: usize = 10;
/// Callers of each server, each with one call at a time.
const CALLERS: usize = 4;
/// A call that has not ended by then never will: the longest budget is half of it.
const LOST: Duration = Duration::from_secs(120);
/// How long a server may take to be there again, on a machine that is busy.
const AWAY: Duration = LOST;

/// A runtime, and what is behind it.
#[derive(Debug)]
pub(crate) struct Fleet {
    size: Size,
    runtime: McpRuntime,
    processes: Vec<ServerProcess>,
    endpoints: Vec<Endpoint>,
    /// Servers that have lost their connection, less those that have a new one.
    away: watch::Receiver<i64>,
    listening: JoinHandle<()>,
}

impl Fleet {
    /// Starts them all.
    pub(crate) async fn start(size: Size) -> Arc<Self> {
        let (mut processes, mut endpoints, mut servers) = (Vec::new(), Vec::new(), Vec::new());
        for number in 0..size.servers {
            let name = name(number).parse().expect("a name");
            let server = if is_endpoint(number) {
                let endpoint = Endpoint::bind().await;
                let transport = HttpTransport::new(endpoint.url.parse().expect("a URL"));
                endpoints.push(endpoint);
                ServerConfig::http(name, transport)
            } else {
                let process = script().command();
                let server = ServerConfig::stdio(name, command(&process));
                processes.push(process);
                server
            };
            servers.push(
                server
                    .era(Era::Legacy)
                    .startup_timeout(AWAY)
                    .tool_timeout(LOST / 2),
            );
        }
        let policy = ReconnectPolicy::new()
            .first_pause(Duration::from_millis(5))
            .longest_pause(Duration::from_millis(50));
        let builder = McpRuntime::builder(ApprovalPolicy::approve_all())
            .servers(servers)
            .reconnect(policy);
        let (runtime, mut events) = builder.start().expect("a sound configuration");
        let (tell, away) = watch::channel(0);
        let listening = tokio::spawn(async move {
            while let Some(event) = events.next().await {
                match event {
                    RuntimeEvent::Disconnected { .. } => tell.send_modify(|away| *away += 1),
                    RuntimeEvent::Reconnected { .. } => tell.send_modify(|away| *away -= 1),
                    _ => {}
                }
            }
        });
        runtime.settled().await;
        for status in runtime.status() {
            assert!(
                matches!(status.state(), ServerState::Ready { .. }),
                "{status:?}"
            );
        }
        Arc::new(Self {
            size,
            runtime,
            processes,
            endpoints,
            away,
            listening,
        })
    }

    /// Makes the calls with these numbers.
    pub(crate) async fn call(self: &Arc<Self>, nonces: Range<usize>, ledger: &Arc<Ledger>) {
        let next = Arc::new(AtomicUsize::new(nonces.start));
        let mut callers = JoinSet::new();
        for _ in 0..CALLERS * self.size.servers {
            let (fleet, ledger, next) = (self.clone(), ledger.clone(), next.clone());
            callers.spawn(async move {
                loop {
                    let nonce = next.fetch_add(1, Ordering::Relaxed);
                    if nonce >= nonces.end {
                        return;
                    }
                    fleet.call_once(nonce, &ledger).await;
                }
            });
        }
        callers.join_all().await;
    }

    /// All that happens in a call is up to its number.
    async fn call_once(&self, nonce: usize, ledger: &Ledger) {
        let number = u64::try_from(nonce).expect("a small number");
        let random = &mut Random::new(self.size.seed.wrapping_mul(1 << 32).wrapping_add(number));
        let server = random.below(self.size.servers);
        let faults = if is_endpoint(server) {
            OF_ENDPOINTS
        } else {
            OF_PROCESSES
        };
        let fault = Fault::any(faults, random);
        let length = if random.one_in(100) { 200_000 } else { 200 };
        let arguments = json!({"nonce": nonce, "pad": "x".repeat(random.below(length))});
        let options = CallOptions::new().arguments(to_raw_value(&arguments).expect("JSON"));
        let call = self.prepare(&name(server), fault.tool).await;
        let (options, leaves) = match fault.patience {
            Patience::Long => (options, None),
            Patience::Short(budget) => (options.timeout(Duration::from_millis(budget)), None),
            Patience::Fickle(most) => (options, Some(random.below(most * 1_000))),
        };
        let leaves =
            leaves.map(|after| Duration::from_micros(u64::try_from(after).expect("short")));
        let outcome = timeout(leaves.unwrap_or(LOST), call.execute(options)).await;
        let (ending, why) = match (&outcome, leaves) {
            (Ok(outcome), _) => {
                let why = outcome
                    .as_ref()
                    .err()
                    .map(|error| ErrorChain(error).to_string());
                (Ending::of(nonce, outcome), why.unwrap_or_default())
            }
            (Err(_), Some(_)) => (Ending::Dropped, String::new()),
            (Err(_), None) => (Ending::Lost, format!("not within {LOST:?}")),
        };
        ledger.enter(nonce, &fault, ending, &why);
    }

    /// A call, as soon as its server is there.
    async fn prepare(&self, server: &str, tool: &str) -> PreparedCall {
        let mut away = self.away.clone();
        let preparing = async {
            loop {
                away.mark_unchanged();
                let error = match self.runtime.capture().prepare_tool(server, None, tool) {
                    Ok(call) => return call,
                    Err(error) => error,
                };
                let is_away = matches!(error.kind(), PrepareErrorKind::Disconnected { .. });
                assert!(is_away, "{}", ErrorChain(&error));
                // Its return is an event.
                away.changed().await.expect("the runtime lives");
            }
        };
        let prepared = timeout(AWAY, preparing).await;
        prepared
            .unwrap_or_else(|_| panic!("`{server}` did not come back: {:?}", self.runtime.status()))
    }

    /// What is held when nothing happens; `idle` is what was held before anything did.
    pub(crate) async fn at_rest(&self, idle: Gauge) -> Gauge {
        let mut away = self.away.clone();
        let back = timeout(AWAY, away.wait_for(|away| *away == 0)).await;
        back.expect("all come back").expect("the runtime lives");
        let gauge = Gauge::reached(|gauge| gauge.of_processes() == idle.of_processes()).await;
        // Memory that was just freed may be on its way back.
        sleep(Duration::from_millis(100)).await;
        gauge
    }

    /// Ends them all; the numbers of the calls that servers saw.
    pub(crate) async fn end(self: Arc<Self>) -> Vec<u64> {
        let fleet = Arc::into_inner(self).expect("every caller is through");
        let timeout = McpRuntime::DEFAULT_SHUTDOWN_TIMEOUT;
        // Whom it had to kill depends on how busy the machine is.
        fleet.runtime.shutdown(timeout).await;
        fleet.listening.await.expect("it ends with the runtime");
        let mut seen: Vec<u64> = fleet
            .endpoints
            .iter()
            .flat_map(Endpoint::acted_on)
            .collect();
        for process in &fleet.processes {
            assert_eq!(process.log().alive(), [0_u32; 0]);
            let calls = process.log().messages().into_iter();
            seen.extend(calls.filter_map(|call| call["params"]["arguments"]["nonce"].as_u64()));
        }
        seen
    }
}

fn is_endpoint(number: usize) -> bool {
    number % ENDPOINT_EVERY == ENDPOINT_EVERY - 1
}

fn name(number: usize) -> String {
    format!("server-{number}")
}

fn command(process: &ServerProcess) -> StdioTransport {
    let text = |path: std::ffi::OsString| path.into_string().expect("test paths are text");
    let args = process.args().into_iter().map(text);
    StdioTransport::new(text(process.program().into())).args(args)
}
