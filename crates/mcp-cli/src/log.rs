//! The program's log, on stderr.

use std::io;

use tracing_subscriber::EnvFilter;

/// What is logged unless somebody asks for more: only what is wrong, and what a library below says of its own
/// peculiarities not at all. Failures that matter are told by the commands themselves.
const QUIET: &str = "error,rmcp=off";

/// Begins to log. `verbose` counts the `-v`; `RUST_LOG`, where set, decides alone.
pub(crate) fn start(verbose: u8) {
    let default = match verbose {
        0 => QUIET,
        1 => "info,rmcp=warn",
        2 => "debug,rmcp=info",
        _ => "trace",
    };
    let filter = match std::env::var("RUST_LOG") {
        Ok(directives) if !directives.is_empty() => EnvFilter::new(directives),
        _ => EnvFilter::new(default),
    };
    let colour = anstream::AutoStream::choice(&io::stderr()) != anstream::ColorChoice::Never;
    // There is one subscriber, and this is the one place that sets it.
    let _ = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(io::stderr)
        .with_ansi(colour)
        .log_internal_errors(false)
        .try_init();
}
