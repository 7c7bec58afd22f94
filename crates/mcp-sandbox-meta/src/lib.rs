//! The codex/sandbox-state wire contract: under which authority an MCP tool call was issued.
