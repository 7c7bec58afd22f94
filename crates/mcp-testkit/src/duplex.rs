//! The in-process server: a stream pair for the transport under test and the handle that scripts the other end.

use tokio::io::DuplexStream;

use crate::handle::ServerHandle;

/// What each direction holds before its writer waits: as much as a Linux pipe.
const PIPE_BYTES: usize = 64 * 1024;

/// The client's end: what it reads from the server, and what it writes to it.
pub type ClientIo = (DuplexStream, DuplexStream);

/// An MCP server inside the test, without a process.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// use mcp_testkit::ScriptedServer;
/// use serde_json::json;
/// use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
///
/// let ((from_server, mut to_server), mut server) = ScriptedServer::duplex();
/// to_server.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n").await.unwrap();
///
/// server.expect_request("ping").await.result(json!({})).await;
///
/// let mut line = String::new();
/// BufReader::new(from_server).read_line(&mut line).await.unwrap();
/// assert_eq!(line, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n");
/// # });
/// ```
#[derive(Debug)]
pub struct ScriptedServer {
    _private: (),
}

impl ScriptedServer {
    /// A connected pair. Each direction holds 64 KiB, as a pipe does.
    #[must_use]
    pub fn duplex() -> (ClientIo, ServerHandle) {
        Self::duplex_with_capacity(PIPE_BYTES)
    }

    /// A connected pair whose directions hold `bytes` each before a writer waits.
    #[must_use]
    pub fn duplex_with_capacity(bytes: usize) -> (ClientIo, ServerHandle) {
        // Two streams rather than one: each direction can then end by itself.
        let (client_reads, server_writes) = tokio::io::duplex(bytes);
        let (client_writes, server_reads) = tokio::io::duplex(bytes);
        (
            (client_reads, client_writes),
            ServerHandle::new(server_reads, server_writes),
        )
    }
}
