//! The public API of mcp-keys, one file per rule.

mod golden;
