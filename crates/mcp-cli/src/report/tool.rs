//! A tool as `--json` and the session say it.

use mcp_runtime::{Binding, BoundTool};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

/// One tool, with its server's own object.
#[derive(Debug, Serialize)]
pub(crate) struct ToolReport<'a> {
    server: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    environment_id: Option<&'a str>,
    tool: &'a str,
    namespace: &'a str,
    name: &'a str,
    definition: &'a RawValue,
}

/// All tools of a binding. No definition is copied.
#[derive(Debug)]
pub(crate) struct ToolList(pub(crate) Binding);

impl<'a> ToolReport<'a> {
    pub(crate) fn new(tool: &BoundTool<'a>) -> Self {
        let server = tool.key().server();
        Self {
            server: server.name().as_str(),
            environment_id: server.environment().map(|id| id.as_str()),
            tool: tool.key().tool().as_str(),
            namespace: tool.name().namespace(),
            name: tool.name().flat(),
            definition: tool.tool().definition(),
        }
    }
}

impl Serialize for ToolList {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.tools().map(|tool| ToolReport::new(&tool)))
    }
}
