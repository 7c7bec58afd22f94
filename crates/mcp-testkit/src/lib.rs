//! Scripted MCP servers for tests: a fake and a handle, in process, as a child process, and over HTTP.
//!
//! A client is only as good as the servers it was tried against, and the servers that matter are the ones that
//! misbehave: they write noise to stdout, answer late, twice or never, stop reading, die, ignore signals. Here a test says
//! step by step what the server does, and what it demands of the client in between.
//!
//! ```
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! use mcp_testkit::ScriptedServer;
//! use serde_json::json;
//! use tokio::io::AsyncWriteExt;
//!
//! let ((_from_server, mut to_server), mut server) = ScriptedServer::duplex();
//! // What the transport under test would send:
//! to_server.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}\n").await.unwrap();
//!
//! let listing = server.expect_request("tools/list").await;
//! server.send_raw("a line of noise\n").await;
//! listing.result(json!({"tools": []})).await;
//! # });
//! ```
//!
//! # Which server
//!
//! - [`ScriptedServer`]: in process, on tokio's clock, so tests pause it. For everything that is not about processes.
//! - [`Script`] and [`ServerProcess`]: a child process playing data, in real time; [`ServerLog`] tells what it saw. The crate under
//!   test has the program as an example: [`scripted_server_main`] says how and why.
//! - [`ScriptedHttp`]: HTTP/1.1 on a loopback port, in real time.
//!
//! # What this crate does not do
//!
//! It knows no other crate of this workspace and not rmcp: it is their peer, and speaks plain JSON lines and plain HTTP.
//! It checks no schema: a test may send what it likes. It is never published.

mod action;
mod child;
mod duplex;
mod failure;
mod handle;
mod handshake;
mod http;
mod inbox;
mod message;
mod outbox;
mod process;
mod random;
mod responder;
mod rule;
mod script;
mod server_log;
#[cfg(feature = "telemetry")]
mod telemetry;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
use unix as os;
#[cfg(windows)]
use windows as os;

pub use action::Action;
pub use child::scripted_server_main;
pub use duplex::{ClientIo, ScriptedServer};
pub use handle::ServerHandle;
pub use handshake::Handshake;
pub use http::{EventStream, Exchange, HeldConnection, HttpHandle, HttpResponse, ScriptedHttp};
pub use process::ServerProcess;
pub use random::Random;
pub use responder::Responder;
pub use rule::Rule;
pub use script::Script;
pub use server_log::ServerLog;
#[cfg(feature = "telemetry")]
pub use telemetry::ExportedTelemetry;
