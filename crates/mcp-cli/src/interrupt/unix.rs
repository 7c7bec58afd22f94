//! Signals.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

use super::Interrupt;

/// The signals that ask for an end. From the first `listen` on they no longer end the process by themselves.
#[derive(Debug)]
pub(crate) struct Interrupts {
    interrupt: Signal,
    terminate: Signal,
}

impl Interrupts {
    pub(crate) fn listen() -> io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    /// The next request to end. Cancel-safe.
    pub(crate) async fn next(&mut self) -> Interrupt {
        tokio::select! {
            _ = self.interrupt.recv() => Interrupt::Interrupt,
            _ = self.terminate.recv() => Interrupt::Terminate,
        }
    }
}
