//! How a server and we agree, in either era, and what that tells about the server (R5).

use mcp_sandbox_meta::{RawMeta, advertises_sandbox_state};
use rmcp::model::{ClientCapabilities, ClientConfig, Implementation, ProtocolVersion};
use serde::Serialize;
use serde::de::{DeserializeOwned, Error as _};
use serde_json::value::{RawValue, to_raw_value};

use super::Link;
use super::request::{RequestError, RequestErrorKind};
use crate::deadline::Deadline;
use crate::object::Object;

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
    /// What an answer to `initialize` says. Everything but the version is taken as it comes.
    pub(super) fn of_greeting(answer: &RawValue) -> Result<Self, HandshakeError> {
        let fail = |kind| HandshakeError::Request(RequestError::new(INITIALIZE, kind));
        let version = required(answer, "protocolVersion").map_err(RequestErrorKind::Unexpected);
        let protocol_version: String = version.map_err(fail)?;
        check_version(&protocol_version).map_err(HandshakeError::Version)?;
        let members = Object::of(answer);
        Ok(Self {
            era: SpokenEra::Legacy,
            protocol_version,
            server_info: members.get("serverInfo").map(ToOwned::to_owned),
            capabilities: members.get("capabilities").map(ToOwned::to_owned),
            wants_sandbox_state: advertises_sandbox_state(answer.get()),
        })
    }

    /// Whether the server says that it announces changes of its tools.
    pub(crate) fn announces_tools(&self) -> bool {
        let tools = self.capability("tools").map(Object::of);
        tools.unwrap_or_default().read_as("listChanged") == Some(true)
    }

    /// Whether the server says that it has something to offer, whatever it says of it.
    pub(crate) fn declares(&self, capability: &str) -> bool {
        self.capability(capability).is_some()
    }

    fn capability(&self, name: &str) -> Option<&RawValue> {
        self.capabilities.as_deref().map(Object::of)?.get(name)
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

/// A member that an answer must have.
fn required<T: DeserializeOwned>(answer: &RawValue, name: &'static str) -> serde_json::Result<T> {
    let value = Object::read(answer)?.get(name);
    let value = value.ok_or_else(|| serde_json::Error::missing_field(name))?;
    let wrong = |error| serde_json::Error::custom(format_args!("`{name}`: {error}"));
    serde_json::from_str(value.get()).map_err(wrong)
}

/// `initialize` and its acknowledgement.
pub(super) async fn legacy(
    link: &Link,
    greeting: &RawValue,
    deadline: &Deadline,
) -> Result<ServerFacts, HandshakeError> {
    let raw = link.request(INITIALIZE, |_| greeting, None, deadline);
    let raw = raw.await.map_err(HandshakeError::Request)?;
    let facts = ServerFacts::of_greeting(&raw)?;
    link.agreed(&facts.protocol_version);
    let notified = link.notify(INITIALIZED, deadline).await;
    notified.map_err(HandshakeError::Request)?;
    Ok(facts)
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
    // Says itself which version it is about.
    link.agreed(MODERN.as_str());
    let params = |_| Params { meta };
    let raw = link.request(DISCOVER, params, None, deadline).await;
    let raw = raw.map_err(HandshakeError::Request)?;
    let supported: Vec<String> = required(&raw, "supportedVersions").map_err(|error| {
        HandshakeError::Request(RequestError::new(
            DISCOVER,
            RequestErrorKind::Unexpected(error),
        ))
    })?;
    if !supported.iter().any(|version| version == MODERN.as_str()) {
        return Err(HandshakeError::Version(UnsupportedVersion {
            offered: supported.join("`, `"),
            supported: vec![MODERN.to_string()],
        }));
    }
    let answer = Object::of(&raw);
    let meta = answer.get("_meta").map(Object::of).unwrap_or_default();
    Ok(ServerFacts {
        era: SpokenEra::Modern,
        protocol_version: MODERN.to_string(),
        server_info: meta
            .get("io.modelcontextprotocol/serverInfo")
            .map(ToOwned::to_owned),
        capabilities: answer.get("capabilities").map(ToOwned::to_owned),
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

    #[test]
    fn what_is_there_is_declared_whatever_it_is() {
        let rows = [
            (None, false),
            (Some("{}"), false),
            (Some(r#"{"resources":{}}"#), true),
            (Some(r#"{"resources":true,"x":[null,{}]}"#), true),
            (Some(r#"{"resources":null}"#), false),
            (Some(r#"{"tools":{"resources":{}}}"#), false),
            (Some(r#"["resources"]"#), false),
        ];
        for (capabilities, expected) in rows {
            let raw = |json: &str| RawValue::from_string(json.to_owned()).unwrap();
            let server = ServerFacts {
                era: SpokenEra::Legacy,
                protocol_version: String::new(),
                server_info: None,
                capabilities: capabilities.map(raw),
                wants_sandbox_state: false,
            };
            assert_eq!(server.declares("resources"), expected, "{capabilities:?}");
        }
    }

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
