//! Nothing that a host has started is left when the host, its executor or a server is gone (R6, R11).

#[cfg(unix)]
mod unix;
