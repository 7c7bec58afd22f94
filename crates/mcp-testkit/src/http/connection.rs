//! The connections of an HTTP server: read a request, hand the connection to the test, get it back for the next request.

use std::io;

use tokio::io::{AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;

use super::request::HttpRequest;

pub(super) type Connection = BufReader<TcpStream>;

/// A request and the connection it came on.
#[derive(Debug)]
pub(super) struct Arrival {
    pub(super) request: HttpRequest,
    pub(super) connection: Connection,
    /// Keeps the connection for a next request; dropped, it closes.
    pub(super) give_back: oneshot::Sender<Connection>,
}

/// Accepts until cancelled, and then cancels the connections too.
pub(super) async fn accept_all(listener: TcpListener, arrived: mpsc::Sender<Arrival>) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        connections.spawn(serve(BufReader::new(stream), arrived.clone()));
        while connections.try_join_next().is_some() {}
    }
}

async fn serve(mut connection: Connection, arrived: mpsc::Sender<Arrival>) {
    loop {
        let request = match HttpRequest::read(&mut connection).await {
            Ok(Some(request)) => request,
            Ok(None) => return,
            Err(error) => return refuse(connection, &error).await,
        };
        let (give_back, given_back) = oneshot::channel();
        if arrived
            .send(Arrival {
                request,
                connection,
                give_back,
            })
            .await
            .is_err()
        {
            return;
        }
        match given_back.await {
            Ok(returned) => connection = returned,
            Err(_) => return,
        }
    }
}

async fn refuse(mut connection: Connection, error: &io::Error) {
    let why = error.to_string();
    let answer = format!(
        "HTTP/1.1 400 \r\nContent-Length: {}\r\nConnection: close\r\n\r\n{why}",
        why.len()
    );
    // A client that went away in the middle of its request reads no answer.
    let _ = connection.write_all(answer.as_bytes()).await;
}
