//! The legacy handshake, and what it tells about a server.

use rmcp::service::Peer;
use rmcp::{RoleClient, model::ProtocolVersion};
use serde::Deserialize;
use serde_json::value::{RawValue, to_raw_value};

use super::request::{RequestError, RequestErrorKind};
use super::server_request::ServerRequests;
use super::stdio::StdioLink;
use crate::deadline::Deadline;

const INITIALIZE: &str = "initialize";

/// What a server said of itself.
#[derive(Debug, Clone)]
pub(crate) struct ServerFacts {
    pub(crate) protocol_version: String,
    pub(crate) server_info: Option<Box<RawValue>>,
    pub(crate) capabilities: Option<Box<RawValue>>,
}

/// A version that we cannot speak.
#[derive(Debug, thiserror::Error)]
#[error("the server speaks protocol version `{offered}`; supported are {}", .supported.join(", "))]
pub struct UnsupportedVersion {
    offered: String,
    supported: Vec<String>,
}

impl ServerFacts {
    /// The era spoken: the legacy one, so far.
    pub(crate) fn era(&self) -> &'static str {
        "legacy"
    }

    /// What an HTTP handshake of rmcp's has found out.
    pub(crate) fn of_peer(peer: &Peer<RoleClient>) -> Self {
        let info = peer.peer_info();
        Self {
            protocol_version: info
                .as_ref()
                .map(|info| info.protocol_version.to_string())
                .unwrap_or_default(),
            server_info: info
                .as_ref()
                .and_then(|info| to_raw_value(info.server_info.as_ref()?).ok()),
            capabilities: info
                .as_ref()
                .and_then(|info| to_raw_value(&info.capabilities).ok()),
        }
    }
}

/// Why a server could not be agreed with.
#[derive(Debug)]
pub(crate) enum HandshakeError {
    Request(RequestError),
    Version(UnsupportedVersion),
}

/// `initialize` and its acknowledgement. Everything but the version is taken as it comes.
pub(crate) async fn legacy(
    link: &StdioLink,
    handler: &ServerRequests,
    deadline: &Deadline,
) -> Result<ServerFacts, HandshakeError> {
    #[derive(Deserialize)]
    struct Answer<'a> {
        #[serde(rename = "protocolVersion")]
        protocol_version: String,
        #[serde(borrow, default)]
        capabilities: Option<&'a RawValue>,
        #[serde(borrow, default, rename = "serverInfo")]
        server_info: Option<&'a RawValue>,
    }
    let config = handler.config();
    let raw = link
        .request(INITIALIZE, |_| &config, None, deadline)
        .await
        .map_err(HandshakeError::Request)?;
    let answer: Answer<'_> = serde_json::from_str(raw.get()).map_err(|error| {
        HandshakeError::Request(RequestError::new(
            INITIALIZE,
            RequestErrorKind::Unexpected(error),
        ))
    })?;
    check_version(&answer.protocol_version).map_err(HandshakeError::Version)?;
    link.notify("notifications/initialized")
        .map_err(HandshakeError::Request)?;
    Ok(ServerFacts {
        protocol_version: answer.protocol_version,
        server_info: answer.server_info.map(ToOwned::to_owned),
        capabilities: answer.capabilities.map(ToOwned::to_owned),
    })
}

fn check_version(offered: &str) -> Result<(), UnsupportedVersion> {
    let spoken = || {
        ProtocolVersion::KNOWN_VERSIONS
            .iter()
            .filter(|version| version.has_initialize())
    };
    if spoken().any(|version| version.as_str() == offered) {
        return Ok(());
    }
    let supported = spoken()
        .map(|version| version.as_str().to_owned())
        .collect();
    Err(UnsupportedVersion {
        offered: offered.to_owned(),
        supported,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R5
    #[test]
    fn every_version_with_a_handshake_is_spoken_and_no_other() {
        for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
            assert!(check_version(version).is_ok(), "{version}");
        }
        let error = check_version("2099-01-01").unwrap_err().to_string();
        assert!(
            error.contains("`2099-01-01`") && error.contains("2025-11-25"),
            "{error}"
        );
    }
}
