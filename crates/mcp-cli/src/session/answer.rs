//! What a session answers to a request that succeeded.

use std::time::Duration;

use mcp_runtime::ToolOutput;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::report::{Owned, OwnedError, PluginReport, ServerReport, ToolList, millis};

/// The members of an answer to a request that succeeded.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Success {
    Servers {
        servers: Vec<ServerReport>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        plugin_errors: Vec<PluginReport>,
    },
    Tools {
        tools: ToolList,
    },
    Captured {
        binding: String,
        tools: ToolList,
    },
    Prepared {
        call: String,
        definition_digest: String,
    },
    Called {
        outcome: &'static str,
        result: Box<RawValue>,
        #[serde(skip_serializing_if = "Option::is_none")]
        error_code: Option<String>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        context: Vec<Box<RawValue>>,
        elapsed_ms: u64,
    },
    Refreshed {
        tools: usize,
    },
    Resources {
        resources: Vec<Owned>,
        #[serde(flatten)]
        rest: Rest,
    },
    ResourceTemplates {
        resource_templates: Vec<Owned>,
        #[serde(flatten)]
        rest: Rest,
    },
    Read {
        contents: Vec<Box<RawValue>>,
    },
    Prompts {
        prompts: Vec<Owned>,
        #[serde(flatten)]
        rest: Rest,
    },
    Prompt {
        result: Box<RawValue>,
    },
    Shutdown {
        killed: Vec<u32>,
    },
    Cancel {
        cancelled: bool,
    },
    Done {},
}

/// What a listing says beside its entries.
#[derive(Debug, Default, Serialize)]
pub(super) struct Rest {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) next_cursor: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) errors: Vec<OwnedError>,
}

impl Success {
    pub(super) fn called(output: ToolOutput, elapsed: Duration) -> Self {
        Self::Called {
            outcome: outcome(&output),
            context: output.context().to_vec(),
            error_code: output.error_code().map(|code| code.as_str().to_owned()),
            result: output.into_raw(),
            elapsed_ms: millis(elapsed),
        }
    }
}

/// What became of a call that its tool has answered.
pub(super) fn outcome(output: &ToolOutput) -> &'static str {
    if output.is_error() {
        "tool_error"
    } else {
        "ok"
    }
}
