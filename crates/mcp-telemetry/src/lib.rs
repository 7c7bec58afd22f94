//! Classifies every failure of an MCP request or tool by type into a bounded code.
