//! Servers for as long as a command works with them.

use std::future::ready;
use std::pin::pin;
use std::time::Duration;

use mcp_runtime::{
    ApprovalDecision, ApprovalPolicy, McpRuntime, McpRuntimeBuilder, ReconnectPolicy, RuntimeEvent,
    ShutdownReport,
};

use tokio::time::sleep;

use crate::failure::Failure;
use crate::interrupt::{Interrupt, Interrupts};
use crate::screen;

/// How long whoever interrupted the program waits before it says what it is waiting for.
const WORD_AFTER: Duration = Duration::from_millis(300);

/// A builder that tells servers who is calling. A command does its work once: a server that is gone is no use to it.
///
/// Whoever typed a call approves it, so that one whose mode is `prompt` is made; one whose mode is `deny` is not.
pub(crate) fn builder() -> McpRuntimeBuilder {
    McpRuntime::builder(ApprovalPolicy::ask(|_typed| ready(ApprovalDecision::Once)))
        .client("mcp-runtime", env!("CARGO_PKG_VERSION"))
        .reconnect(ReconnectPolicy::never())
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
    let is_interrupted = matches!(outcome, Err(Failure::Interrupted(_)));
    let report = shut_down(&runtime, &mut interrupts, is_interrupted)
        .await
        .map_err(Failure::Interrupted)?;
    // After a shutdown the stream has an end.
    while let Some(event) = events.next().await {
        if let RuntimeEvent::Listing { server, message } = event {
            screen::warning(format_args!("server `{server}`: {message}"));
        }
    }
    Ok((outcome?, report))
}

/// Waits until every server has ended, or somebody will not wait for that.
async fn shut_down(
    runtime: &McpRuntime,
    interrupts: &mut Interrupts,
    is_interrupted: bool,
) -> Result<ShutdownReport, Interrupt> {
    let mut ending = pin!(runtime.shutdown(McpRuntime::DEFAULT_SHUTDOWN_TIMEOUT));
    tokio::select! {
        report = &mut ending => return Ok(report),
        interrupt = interrupts.next() => return Err(interrupt),
        () = sleep(WORD_AFTER), if is_interrupted => {
            screen::note("waiting for servers to end; interrupt again to kill them");
        }
    }
    tokio::select! {
        report = ending => Ok(report),
        interrupt = interrupts.next() => Err(interrupt),
    }
}
