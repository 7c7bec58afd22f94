//! `cargo xtask`: the checks and tasks of this workspace.
//!
//! This file dispatches; a task is a row in `task.rs`, a check of `tidy` a function under `tidy/`.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program for a terminal; only libraries must not print"
)]

mod ci;
mod command;
mod error;
mod interop;
mod request;
mod snapshots;
mod task;
mod tidy;
mod trial;

use std::process::ExitCode;

use request::Request;

fn main() -> ExitCode {
    match Request::parse(std::env::args().skip(1)) {
        Ok(Request::Help) => {
            print!("{}", request::help());
            ExitCode::SUCCESS
        }
        Ok(Request::Run { tasks, fail_fast }) => ci::run(&tasks, fail_fast),
        Ok(Request::Try { trial, values }) => {
            ci::run_alone(trial.name, trial.about, || trial.run(&values))
        }
        Err(error) => {
            eprintln!("error: {error}\n\n{}", request::help());
            ExitCode::from(2)
        }
    }
}
