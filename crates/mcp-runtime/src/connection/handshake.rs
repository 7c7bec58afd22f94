//! How a server and we agree, in either era, and what that tells about the server (R5).

use mcp_sandbox_meta::{RawMeta, advertises_sandbox_state};
use rmcp::model::{ClientCapabilities, ClientConfig, Implementation, ProtocolVersion};
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};

use super::Link;
use super::request::{RequestError, RequestErrorKind};
use crate::deadline::Deadline;

pub(crate) const INITIALIZE: &str = "initialize";
pub(crate) const INITIALIZED: &str = "notifications/initialized";
const DISCOVER: &str = "server/discover";
/// The version offered in `initialize`.
const OFFERED: ProtocolVersion = ProtocolVersion::V_2025_11_25;
/// The version of the era without a handshake.
pub(crate) const MODERN: ProtocolVersion = ProtocolVersion::V_2026_07_28;

/// A generation of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SpokenEra {
    /// A handshake with `initialize`, up to 2025-11-25.
    Legacy,
    /// Every request says what the client is, from 2026-07-28 on.
    Modern,
}

impl SpokenEra {
    /// `legacy` or `modern`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Legacy => "legacy",
            Self::Modern => "modern",
        }
    }

    pub(crate) fn other(self) -> Self {
        match self {
            Self::Legacy => Self::Modern,
            Self::Modern => Self::Legacy,
        }
    }
}

/// What a server said of itself.
#[derive(Debug, Clone)]
pub(crate) struct ServerFacts {
    pub(crate) era: SpokenEra,
    pub(crate) protocol_version: String,
    pub(crate) server_info: Option<Box<RawValue>>,
    pub(crate) capabilities: Option<Box<RawValue>>,
    /// Whether it wants to know the sandbox state of each call (S1).
    pub(crate) wants_sandbox_state: bool,
}

/// A version that we cannot speak.
#[derive(Debug, thiserror::Error)]
#[error("the server speaks protocol version `{offered}`; supported are {}", .supported.join(", "))]
pub struct UnsupportedVersion {
    offered: String,
    supported: Vec<String>,
}

impl UnsupportedVersion {
    /// What the server speaks.
    #[must_use]
    pub fn offered(&self) -> &str {
        &self.offered
    }

    /// What we speak.
    #[must_use]
    pub fn supported(&self) -> &[String] {
        &self.supported
    }
}

impl ServerFacts {
    /// Whether the server says that it announces changes of its tools.
    pub(crate) fn announces_tools(&self) -> bool {
        #[derive(Deserialize, Default)]
        #[serde(default)]
        struct Capabilities {
            tools: Tools,
        }
        #[derive(Deserialize, Default)]
        #[serde(default, rename_all = "camelCase")]
        struct Tools {
            list_changed: bool,
        }
        let capabilities = self.capabilities.as_deref().map_or("{}", RawValue::get);
        serde_json::from_str::<Capabilities>(capabilities)
            .unwrap_or_default()
            .tools
            .list_changed
    }
}

/// Why a server could not be agreed with.
#[derive(Debug)]
pub(crate) enum HandshakeError {
    Request(RequestError),
    Version(UnsupportedVersion),
}

/// What we say of ourselves.
pub(crate) fn introduction(
    client: Implementation,
    capabilities: ClientCapabilities,
) -> ClientConfig {
    ClientConfig::new(capabilities, client).with_protocol_version(OFFERED)
}

/// What `initialize` says.
pub(crate) fn greeting(config: &ClientConfig) -> serde_json::Result<Box<RawValue>> {
    to_raw_value(config)
}

/// The version in an answer to `initialize`.
pub(crate) fn version_of(answer: &RawValue) -> Result<String, RequestErrorKind> {
    #[derive(Deserialize)]
    struct Answer {
        #[serde(rename = "protocolVersion")]
        protocol_version: String,
    }
    let answer = serde_json::from_str::<Answer>(answer.get());
    answer
        .map(|answer| answer.protocol_version)
        .map_err(RequestErrorKind::Unexpected)
}

/// `initialize` and its acknowledgement. Everything but the version is taken as it comes.
pub(super) async fn legacy(
    link: &Link,
    greeting: &RawValue,
    deadline: &Deadline,
) -> Result<ServerFacts, HandshakeError> {
    #[derive(Deserialize)]
    struct Answer<'a> {
        #[serde(borrow, default)]
        capabilities: Option<&'a RawValue>,
        #[serde(borrow, default, rename = "serverInfo")]
        server_info: Option<&'a RawValue>,
    }
    let fail = |kind| HandshakeError::Request(RequestError::new(INITIALIZE, kind));
    let raw = link.request(INITIALIZE, |_| greeting, None, deadline);
    let raw = raw.await.map_err(HandshakeError::Request)?;
    let protocol_version = version_of(&raw).map_err(fail)?;
    check_version(&protocol_version).map_err(HandshakeError::Version)?;
    let answer: Answer<'_> = serde_json::from_str(raw.get())
        .map_err(|error| fail(RequestErrorKind::Unexpected(error)))?;
    link.agreed(&protocol_version);
    let notified = link.notify(INITIALIZED, deadline).await;
    notified.map_err(HandshakeError::Request)?;
    Ok(ServerFacts {
        era: SpokenEra::Legacy,
        protocol_version,
        server_info: answer.server_info.map(ToOwned::to_owned),
        capabilities: answer.capabilities.map(ToOwned::to_owned),
        wants_sandbox_state: advertises_sandbox_state(raw.get()),
    })
}

/// `server/discover`. There is nothing to acknowledge: every request carries what the server needs.
pub(super) async fn modern(
    link: &Link,
    meta: &RawMeta,
    deadline: &Deadline,
) -> Result<ServerFacts, HandshakeError> {
    #[derive(Serialize)]
    struct Params<'a> {
        #[serde(rename = "_meta")]
        meta: &'a RawMeta,
    }
    #[derive(Deserialize)]
    struct Answer<'a> {
        #[serde(rename = "supportedVersions")]
        supported: Vec<String>,
        #[serde(borrow, default)]
        capabilities: Option<&'a RawValue>,
        #[serde(borrow, default, rename = "_meta")]
        meta: Option<AnswerMeta<'a>>,
    }
    #[derive(Deserialize)]
    struct AnswerMeta<'a> {
        #[serde(borrow, default, rename = "io.modelcontextprotocol/serverInfo")]
        server_info: Option<&'a RawValue>,
    }
    // Says itself which version it is about.
    link.agreed(MODERN.as_str());
    let params = |_| Params { meta };
    let raw = link.request(DISCOVER, params, None, deadline).await;
    let raw = raw.map_err(HandshakeError::Request)?;
    let answer: Answer<'_> = serde_json::from_str(raw.get()).map_err(|error| {
        HandshakeError::Request(RequestError::new(
            DISCOVER,
            RequestErrorKind::Unexpected(error),
        ))
    })?;
    if !answer
        .supported
        .iter()
        .any(|version| version == MODERN.as_str())
    {
        return Err(HandshakeError::Version(UnsupportedVersion {
            offered: answer.supported.join("`, `"),
            supported: vec![MODERN.to_string()],
        }));
    }
    Ok(ServerFacts {
        era: SpokenEra::Modern,
        protocol_version: MODERN.to_string(),
        server_info: answer
            .meta
            .and_then(|meta| meta.server_info)
            .map(ToOwned::to_owned),
        capabilities: answer.capabilities.map(ToOwned::to_owned),
        wants_sandbox_state: advertises_sandbox_state(raw.get()),
    })
}

/// What a request of the modern era says of the client.
pub(crate) fn client_meta(config: &ClientConfig) -> serde_json::Result<RawMeta> {
    let mut meta = RawMeta::new();
    meta.push(
        "io.modelcontextprotocol/protocolVersion",
        &to_raw_value(&MODERN)?,
    );
    meta.push(
        "io.modelcontextprotocol/clientInfo",
        &to_raw_value(&config.client_info)?,
    );
    meta.push(
        "io.modelcontextprotocol/clientCapabilities",
        &to_raw_value(&config.capabilities)?,
    );
    Ok(meta)
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
