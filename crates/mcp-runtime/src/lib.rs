//! The runtime between an agent host and its MCP servers: connections, catalogs, exact identity, bounded calls.
