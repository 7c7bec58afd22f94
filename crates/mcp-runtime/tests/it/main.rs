//! The runtime through its public face, with real child processes and real sockets. One file per noun.
#![cfg(test)]

mod agreement;
mod announcement;
mod argument;
mod authority;
mod budget;
mod cancellation;
mod catalog;
mod correlation;
mod disconnect;
mod elicitation;
mod environment;
mod era;
mod failure;
mod flood;
mod framing;
mod gate;
mod host;
mod http;
mod listing;
mod naming;
mod ownership;
mod person;
mod process;
mod progress;
mod reconnect;
mod request;
mod resource;
mod result;
mod rounds;
mod secret;
mod sharing;
mod shutdown;
mod startup;
mod unstartable;
