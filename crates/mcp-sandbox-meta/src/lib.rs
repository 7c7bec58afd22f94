//! The codex/sandbox-state wire contract: under which authority an MCP tool call was issued.

mod reserved;

pub use reserved::{
    SANDBOX_LAUNCHER_KEY, SANDBOX_STATE_KEY, SANDBOX_STATE_META_KEY, is_reserved_meta_key,
};
