//! The HTTP server: requests are demanded and answered step by step, like those of the in-process server.

mod connection;
mod exchange;
mod handle;
mod held;
mod request;
mod response;
mod wire;

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::panic::Location;

use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::failure::fail;

pub use exchange::Exchange;
pub use handle::HttpHandle;
pub use held::{EventStream, HeldConnection};
pub use response::HttpResponse;

/// Requests read ahead of the test; further connections wait.
const ARRIVALS: usize = 64;

/// An MCP server over streamable HTTP, on a loopback port.
///
/// Real sockets need real time: a paused clock would run into every deadline.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// use mcp_testkit::ScriptedHttp;
/// use serde_json::json;
/// use tokio::io::{AsyncReadExt, AsyncWriteExt};
///
/// let (url, mut server) = ScriptedHttp::bind().await;
/// assert!(url.ends_with("/mcp"));
/// let mut client = tokio::net::TcpStream::connect(server.address()).await.unwrap();
/// let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
/// let post = format!("POST /mcp HTTP/1.1\r\nContent-Length: {}\r\n\r\n{ping}", ping.len());
/// client.write_all(post.as_bytes()).await.unwrap();
///
/// server.expect_post("ping").await.result(json!({})).await;
/// server.close().await;
///
/// let mut answer = String::new();
/// client.read_to_string(&mut answer).await.unwrap();
/// assert!(answer.starts_with("HTTP/1.1 200 "));
/// assert!(answer.ends_with(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#));
/// # });
/// ```
#[derive(Debug)]
pub struct ScriptedHttp {
    _private: (),
}

impl ScriptedHttp {
    /// A server on a free port; its URL, with the path `/mcp`, and the handle. Requests to any path arrive.
    ///
    /// # Panics
    ///
    /// When no port can be had.
    #[track_caller]
    pub fn bind() -> impl Future<Output = (String, HttpHandle)> {
        Self::bind_to(
            SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            Location::caller(),
        )
    }

    /// A server at this address, such as that of one that was closed: a server that comes back.
    ///
    /// # Panics
    ///
    /// When the address is taken.
    #[track_caller]
    pub fn bind_at(address: SocketAddr) -> impl Future<Output = (String, HttpHandle)> {
        Self::bind_to(address, Location::caller())
    }

    async fn bind_to(address: SocketAddr, at: &'static Location<'static>) -> (String, HttpHandle) {
        let bound = async {
            let listener = TcpListener::bind(address).await?;
            let address = listener.local_addr()?;
            io::Result::Ok((listener, address))
        };
        let (listener, address) = match bound.await {
            Ok(bound) => bound,
            Err(error) => fail(at, format_args!("cannot listen on {address}: {error}")),
        };
        let (arrived, arrivals) = mpsc::channel(ARRIVALS);
        let mut tasks = JoinSet::new();
        tasks.spawn(connection::accept_all(listener, arrived));
        (
            format!("http://{address}/mcp"),
            HttpHandle::new(address, arrivals, tasks),
        )
    }
}
