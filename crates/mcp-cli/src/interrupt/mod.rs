//! Requests to end: Ctrl-C, SIGTERM, and the end of the terminal.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(crate) use unix::Interrupts;
#[cfg(windows)]
pub(crate) use windows::Interrupts;

/// Somebody wants the program to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Interrupt {
    /// A person at the keyboard: Ctrl-C.
    Keyboard,
    /// The system or a supervisor: SIGTERM.
    Terminate,
    /// The terminal has gone: SIGHUP, unless it is ignored as `nohup` has it.
    Hangup,
}
