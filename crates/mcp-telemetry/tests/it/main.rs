//! Public behaviour of the crate, against what was recorded from a real host.
#![cfg(test)]

#[cfg(feature = "record")]
mod recording;
mod tool_results;
