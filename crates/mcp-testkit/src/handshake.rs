//! What a scripted server says of itself when a client initializes.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The server's side of the legacy handshake. By default: the protocol version the client offers, tools as the only
/// capability, the name `scripted`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[must_use = "a handshake does nothing until a server plays it"]
pub struct Handshake {
    protocol_version: Option<String>,
    capabilities: Value,
    server_info: Value,
    instructions: Option<String>,
}

impl Handshake {
    /// The default handshake.
    pub fn new() -> Self {
        Self {
            protocol_version: None,
            capabilities: json!({"tools": {}}),
            server_info: json!({"name": "scripted", "version": "1.0.0"}),
            instructions: None,
        }
    }

    /// Answers with this protocol version, whatever the client offers.
    pub fn protocol_version(mut self, version: impl Into<String>) -> Self {
        self.protocol_version = Some(version.into());
        self
    }

    /// Declares these capabilities; any JSON, well-formed or not.
    pub fn capabilities(mut self, capabilities: Value) -> Self {
        self.capabilities = capabilities;
        self
    }

    /// Declares this `serverInfo`.
    pub fn server_info(mut self, server_info: Value) -> Self {
        self.server_info = server_info;
        self
    }

    /// Gives instructions.
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = Some(instructions.into());
        self
    }

    /// The result that answers an `initialize` with these parameters.
    #[must_use]
    pub fn result(&self, params: &Value) -> Value {
        let version = match &self.protocol_version {
            Some(version) => json!(version),
            None => params
                .get("protocolVersion")
                .cloned()
                .unwrap_or_else(|| json!("2025-11-25")),
        };
        let mut result = json!({
            "protocolVersion": version,
            "capabilities": self.capabilities,
            "serverInfo": self.server_info,
        });
        if let Some(instructions) = &self.instructions {
            result["instructions"] = json!(instructions);
        }
        result
    }
}

impl Default for Handshake {
    fn default() -> Self {
        Self::new()
    }
}
