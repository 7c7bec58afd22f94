//! Console events.

use std::io;

use tokio::signal::windows::{CtrlBreak, CtrlC, CtrlClose, ctrl_break, ctrl_c, ctrl_close};

use super::Interrupt;

/// The console events that ask for an end. From the first `listen` on they no longer end the process by themselves.
#[derive(Debug)]
pub(crate) struct Interrupts {
    interrupt: CtrlC,
    stop: CtrlBreak,
    close: CtrlClose,
}

impl Interrupts {
    pub(crate) fn listen() -> io::Result<Self> {
        Ok(Self {
            interrupt: ctrl_c()?,
            stop: ctrl_break()?,
            close: ctrl_close()?,
        })
    }

    /// The next request to end. Cancel-safe.
    pub(crate) async fn next(&mut self) -> Interrupt {
        tokio::select! {
            _ = self.interrupt.recv() => Interrupt::Keyboard,
            _ = self.stop.recv() => Interrupt::Terminate,
            _ = self.close.recv() => Interrupt::Terminate,
        }
    }
}
