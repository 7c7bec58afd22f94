//! Servers for as long as a command works with them.

use mcp_runtime::{McpRuntime, McpRuntimeBuilder, RuntimeEvent, ShutdownReport};

use crate::failure::Failure;
use crate::interrupt::Interrupts;
use crate::screen;

/// A builder that tells servers who is calling.
pub(crate) fn builder() -> McpRuntimeBuilder {
    McpRuntime::builder().client("mcp-runtime", env!("CARGO_PKG_VERSION"))
}

/// Starts servers, works with them, and ends them whatever the outcome: also when somebody interrupts the work. A second
/// interruption ends the wait for servers that will not end; they are killed. What ending them took is told as well.
///
/// # Errors
///
/// Those of `work`, [`Failure::Interrupted`], and what keeps the servers from being started at all.
pub(crate) async fn with_servers<T>(
    builder: McpRuntimeBuilder,
    work: impl AsyncFnOnce(&McpRuntime) -> Result<T, Failure>,
) -> Result<(T, ShutdownReport), Failure> {
    let mut interrupts = Interrupts::listen().map_err(Failure::Signals)?;
    let (runtime, mut events) = builder.start()?;
    let outcome = tokio::select! {
        outcome = work(&runtime) => outcome,
        interrupt = interrupts.next() => Err(Failure::Interrupted(interrupt)),
    };
    let report = tokio::select! {
        report = runtime.shutdown(McpRuntime::DEFAULT_SHUTDOWN_TIMEOUT) => report,
        interrupt = interrupts.next() => return Err(Failure::Interrupted(interrupt)),
    };
    // After a shutdown the stream has an end.
    while let Some(event) = events.next().await {
        if let RuntimeEvent::Listing { server, message } = event {
            screen::warning(format_args!("server `{server}`: {message}"));
        }
    }
    Ok((outcome?, report))
}
