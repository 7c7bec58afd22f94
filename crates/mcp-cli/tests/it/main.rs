//! The program as it is run: command lines in; stdout, stderr and exit status out.

mod call;
mod configuration;
mod demo;
mod elicitation;
mod environments;
mod help;
#[cfg(unix)]
mod launcher;
mod program;
mod query;
mod secret;
mod session;
mod tools;
#[cfg(unix)]
mod unix;
