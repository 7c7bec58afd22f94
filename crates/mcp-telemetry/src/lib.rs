//! Classifies every failure of an MCP request or tool by type into a bounded code.

mod error_code;
mod outcome;

pub use error_code::{ErrorCode, UnknownErrorCode};
pub use outcome::FailureOutcome;
