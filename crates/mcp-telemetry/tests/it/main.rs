//! Public behaviour of the crate, against what was recorded from a real host.

mod tool_results;
