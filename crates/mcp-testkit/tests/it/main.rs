//! The testkit through its public face, one file per kind of server.

mod duplex;
mod failing;
mod http;
mod process;
#[cfg(unix)]
mod unix;
