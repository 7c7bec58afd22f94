//! How a caller should look at a failure, coarser than its code.

use std::fmt;

use serde::ser::{Serialize, Serializer};

/// What a failed request means to the program that made it; see [`ErrorCode::outcome`](crate::ErrorCode::outcome).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum FailureOutcome {
    /// Time ran out; whether the server acted is unknown.
    Timeout,
    /// The server answered with a JSON-RPC error.
    RpcError,
    /// The request was given up by its caller.
    Cancelled,
    /// Somebody on this side said no before anything was sent.
    Refused,
    /// The request itself was wrong; nothing was sent.
    InvalidRequest,
    /// Everything else: there was no usable answer.
    TransportError,
}

impl FailureOutcome {
    /// The outcome as it appears in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Timeout => "timeout",
            Self::RpcError => "rpc_error",
            Self::Cancelled => "cancelled",
            Self::Refused => "refused",
            Self::InvalidRequest => "invalid_request",
            Self::TransportError => "transport_error",
        }
    }
}

impl fmt::Display for FailureOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl Serialize for FailureOutcome {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serialises_as_it_displays() {
        for outcome in [
            FailureOutcome::Timeout,
            FailureOutcome::RpcError,
            FailureOutcome::Refused,
        ] {
            let json = serde_json::to_string(&outcome).unwrap();
            assert_eq!(json, format!("\"{outcome}\""));
        }
    }
}
