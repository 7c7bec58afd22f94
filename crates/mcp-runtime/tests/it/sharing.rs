//! Startups that overlap share one listing, and none of them depends on another (C0 to C7).

#[cfg(unix)]
mod unix;
