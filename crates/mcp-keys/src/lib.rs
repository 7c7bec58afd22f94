//! Exact identity of MCP servers and tools across environments, and stable model-visible names.
