//! The closed list of reasons for which a request to a server ends without a result.

use std::fmt;
use std::str::FromStr;

use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::ser::{Serialize, Serializer};

use crate::outcome::FailureOutcome;

/// Declares the enum, its strings and [`ErrorCode::ALL`] from one list, so that they cannot drift apart.
macro_rules! error_codes {
    ($($(#[$doc:meta])+ $variant:ident = $text:literal,)+) => {
        /// Why a request to a server ended without a result (T1).
        ///
        /// The set is closed and small on purpose: it is an attribute of metrics, where every further value is a
        /// further time series. Nothing a server sends can become a code. New codes are possible, hence
        /// `#[non_exhaustive]`; the strings of existing ones are contract.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum ErrorCode {
            $($(#[$doc])+ $variant,)+
        }

        impl ErrorCode {
            /// Every code, in the order of declaration.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The code as it appears in metrics, spans and JSON.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)+
                }
            }
        }
    };
}

error_codes! {
    /// The request's own budget ran out, wherever the time went.
    ///
    /// *Operator*: look at the server's latency first; raise `tool_timeout_sec` only when the tool is honestly slow.
    RequestTimeout = "request_timeout",
    /// The caller, or the program around it, gave the request up.
    ///
    /// *Operator*: nothing is wrong; many of these point at impatient callers.
    Cancelled = "cancelled",
    /// The connection, or the HTTP session, ended while the request was under way: the server exited, or closed its output.
    ///
    /// *Operator*: read the end of the server's stderr; whether it executed the request is unknown.
    TransportClosed = "transport_closed",
    /// The request could not be delivered, or its answer not be read, on a connection that may still live.
    ///
    /// *Operator*: check the address, the network, proxies and certificates.
    TransportError = "transport_error",
    /// The server answered with a JSON-RPC error.
    ///
    /// *Operator*: the message is the server's; its numeric code and data are kept beside this one.
    ProtocolError = "protocol_error",
    /// The server answered with something that is no answer to this request: wrong shape, malformed, too large.
    ///
    /// *Operator*: a fault of the server, or a version that does not fit; report it to its author.
    UnexpectedResponse = "unexpected_response",
    /// A subscription delivered faster than it was read, and notifications were lost.
    ///
    /// *Operator*: subscribe again; a server that floods needs a filter.
    SubscriptionLagged = "subscription_lagged",
    /// The server went on asking for input beyond the permitted number of rounds.
    ///
    /// *Operator*: a fault of the server, unless the answers given to it are unusable.
    InputRequiredRoundsExceeded = "input_required_rounds_exceeded",
    /// The server never became ready: it could not be launched, or the handshake or the first listing failed.
    ///
    /// *Operator*: check the command, its environment and the protocol versions of both sides.
    StartupFailed = "startup_failed",
    /// The server wants credentials, other ones, or ones with a wider scope.
    ///
    /// *Operator*: log in again, or renew the token that the configuration names.
    AuthRequired = "auth_required",
    /// The tool's definition changed or disappeared since the call was prepared; nothing was sent.
    ///
    /// *Operator*: nothing is wrong; the next step sees the new definition.
    CatalogChanged = "catalog_changed",
    /// A hook, an approval or the access lookup said no; nothing was sent.
    ///
    /// *Operator*: look at the policy that denied it.
    Blocked = "blocked",
    /// The caller asked for what cannot be asked: an unknown tool, a missing environment, bad arguments.
    ///
    /// *Operator*: a fault of the caller, often of a model that invented a name.
    InvalidRequest = "invalid_request",
    /// A failure of a type that nothing here knows.
    ///
    /// *Operator*: should not happen; teach a [`Classifier`](crate::Classifier) the type that was met.
    Unknown = "unknown",
}

impl ErrorCode {
    /// What this code means to a program that only wants to know how to react.
    #[must_use]
    pub const fn outcome(self) -> FailureOutcome {
        match self {
            Self::RequestTimeout => FailureOutcome::Timeout,
            Self::ProtocolError => FailureOutcome::RpcError,
            Self::Cancelled => FailureOutcome::Cancelled,
            Self::Blocked | Self::CatalogChanged => FailureOutcome::Refused,
            Self::InvalidRequest => FailureOutcome::InvalidRequest,
            Self::TransportClosed
            | Self::TransportError
            | Self::UnexpectedResponse
            | Self::SubscriptionLagged
            | Self::InputRequiredRoundsExceeded
            | Self::StartupFailed
            | Self::AuthRequired
            | Self::Unknown => FailureOutcome::TransportError,
        }
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A text that is no [`ErrorCode`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not an error code: expected one of those that `ErrorCode::ALL` lists")]
#[non_exhaustive]
pub struct UnknownErrorCode;

impl FromStr for ErrorCode {
    type Err = UnknownErrorCode;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .iter()
            .copied()
            .find(|code| code.as_str() == text)
            .ok_or(UnknownErrorCode)
    }
}

impl Serialize for ErrorCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for ErrorCode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct CodeVisitor;

        impl Visitor<'_> for CodeVisitor {
            type Value = ErrorCode;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an error code")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<ErrorCode, E> {
                text.parse().map_err(E::custom)
            }
        }

        deserializer.deserialize_str(CodeVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// T1: the codes, as the rule spells them, with the outcome each leads to.
    #[track_caller]
    fn check(text: &str, outcome: &str) {
        let code: ErrorCode = text.parse().unwrap();
        assert_eq!(code.as_str(), text);
        assert_eq!(code.to_string(), text);
        let json = serde_json::to_string(&code).unwrap();
        assert_eq!(json, format!("\"{text}\""));
        assert_eq!(serde_json::from_str::<ErrorCode>(&json).unwrap(), code);
        assert_eq!(code.outcome().as_str(), outcome);
    }

    const RULE: [(&str, &str); 14] = [
        ("request_timeout", "timeout"),
        ("cancelled", "cancelled"),
        ("transport_closed", "transport_error"),
        ("transport_error", "transport_error"),
        ("protocol_error", "rpc_error"),
        ("unexpected_response", "transport_error"),
        ("subscription_lagged", "transport_error"),
        ("input_required_rounds_exceeded", "transport_error"),
        ("startup_failed", "transport_error"),
        ("auth_required", "transport_error"),
        ("catalog_changed", "refused"),
        ("blocked", "refused"),
        ("invalid_request", "invalid_request"),
        ("unknown", "transport_error"),
    ];

    #[test]
    fn codes_are_exactly_those_of_the_rule_and_round_trip() {
        for (text, outcome) in RULE {
            check(text, outcome);
        }
        let spelled: Vec<_> = ErrorCode::ALL.iter().map(|code| code.as_str()).collect();
        assert_eq!(spelled, RULE.map(|(text, _)| text));
    }

    #[test]
    fn other_texts_are_no_codes() {
        for text in ["", "Cancelled", "cancelled ", "timeout", "type_error"] {
            assert_eq!(text.parse::<ErrorCode>(), Err(UnknownErrorCode), "{text:?}");
            let json = serde_json::to_string(text).unwrap();
            assert!(
                serde_json::from_str::<ErrorCode>(&json).is_err(),
                "{text:?}"
            );
        }
    }

    #[test]
    fn display_honours_a_width() {
        assert_eq!(
            format!("{:>9}|{:<9}|", ErrorCode::Blocked, ErrorCode::Unknown),
            "  blocked|unknown  |"
        );
    }
}
