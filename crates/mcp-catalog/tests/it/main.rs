//! Startups that share listings, as a host sees them.
#![cfg(test)]

mod connections;
mod crowd;
mod failures;
mod reentrant;
mod runtimes;
mod scenario;
mod scopes;
mod sharing;
mod stuck;
