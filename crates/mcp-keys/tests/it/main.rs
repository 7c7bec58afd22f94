//! The public API of mcp-keys, one file per area.

mod exhaustive;
mod golden;
