//! The program `mcp-runtime`: MCP servers from the command line and over JSON lines.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "the program is what prints"
)]

mod arguments;
mod call;
mod cli;
mod config_file;
mod content;
mod demo;
mod environment;
mod exit;
mod failure;
mod interrupt;
mod log;
mod query;
mod report;
mod screen;
mod serving;
mod session;
mod table;
mod target;
mod tools;

use std::process::ExitCode;
use std::time::Duration;

use clap::Parser as _;

use cli::{Cli, Command};
use exit::ExitStatus;

/// How long to wait for what the executor cannot end by itself: a read of stdin that is under way.
const LEFTOVERS: Duration = Duration::from_millis(200);

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Nobody is left to tell when the stream is closed.
            let _ = error.print();
            return u8::try_from(error.exit_code())
                .map_or(ExitStatus::Usage.into(), ExitCode::from);
        }
    };
    log::start(cli.verbose);
    let runtime = match tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => {
            screen::error(format_args!("cannot start the executor: {error}"));
            return ExitStatus::System.into();
        }
    };
    let status = runtime.block_on(run(cli.command));
    runtime.shutdown_timeout(LEFTOVERS);
    status.into()
}

async fn run(command: Command) -> ExitStatus {
    let done = match command {
        Command::Tools(args) => tools::run(args).await,
        Command::Call(args) => call::run(args).await,
        Command::Resources(args) => query::resources(args).await,
        Command::Read(args) => query::read(args).await,
        Command::Prompts(args) => query::prompts(args).await,
        Command::Prompt(args) => query::prompt(args).await,
        Command::Session => Ok(session::run().await),
        Command::Demo(args) => demo::run(args).await,
        Command::DemoServer(args) => demo::serve(args).await,
    };
    done.unwrap_or_else(|failure| {
        failure.tell();
        failure.status()
    })
}
