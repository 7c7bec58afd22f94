//! A tool as its server defines it.

use mcp_keys::ToolName;
use serde_json::value::RawValue;

use crate::object::Object;

/// One listed tool: its name, and the definition exactly as the server sent it (R8, W1).
#[derive(Debug)]
pub struct Tool {
    name: ToolName,
    definition: Box<RawValue>,
}

impl Tool {
    pub(crate) fn new(name: ToolName, definition: Box<RawValue>) -> Self {
        Self { name, definition }
    }

    /// The server's own name for it.
    #[must_use]
    pub fn name(&self) -> &ToolName {
        &self.name
    }

    /// The server's own object, unknown members included.
    #[must_use]
    pub fn definition(&self) -> &RawValue {
        &self.definition
    }

    /// The description; `None` when there is none.
    #[must_use]
    pub fn description(&self) -> Option<String> {
        Object::of(&self.definition).text("description")
    }

    /// The schema of the arguments; `{"type":"object"}` when the server gave none (R8).
    #[must_use]
    pub fn input_schema(&self) -> &str {
        let schema = Object::of(&self.definition).get("inputSchema");
        let object = schema
            .map(RawValue::get)
            .filter(|schema| schema.starts_with('{'));
        object.unwrap_or(r#"{"type":"object"}"#)
    }

    /// Whether its server says that it changes nothing (A1). Servers may say what they like.
    pub(crate) fn is_harmless(&self) -> bool {
        let annotations = Object::of(&self.definition).get("annotations");
        let annotations = annotations.map(Object::of).unwrap_or_default();
        let hint = |name: &str| annotations.read_as::<bool>(name);
        hint("readOnlyHint") == Some(true) && hint("destructiveHint") != Some(true)
    }

    /// Whether two listings define the same tool.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
            || (self.name == other.name && self.definition.get() == other.definition.get())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_of_the_wrong_kind_does_not_cost_the_schema() {
        let json =
            r#"{"name":"t","description":7,"inputSchema":{"type":"object","required":["a"]}}"#;
        let tool = Tool::new(
            "t".parse().unwrap(),
            RawValue::from_string(json.to_owned()).unwrap(),
        );
        assert_eq!(tool.description(), None);
        assert_eq!(tool.input_schema(), r#"{"type":"object","required":["a"]}"#);
    }

    /// R8
    #[test]
    fn a_missing_schema_reads_as_an_object() {
        let tool = |json: &str| {
            Tool::new(
                "t".parse().unwrap(),
                RawValue::from_string(json.to_owned()).unwrap(),
            )
        };
        assert_eq!(
            tool(r#"{"name":"t"}"#).input_schema(),
            r#"{"type":"object"}"#
        );
        assert_eq!(
            tool(r#"{"name":"t","inputSchema":null}"#).input_schema(),
            r#"{"type":"object"}"#
        );
        assert_eq!(
            tool(r#"{"name":"t","inputSchema":true,"description":7}"#).input_schema(),
            r#"{"type":"object"}"#
        );
        assert_eq!(
            tool(r#"{"name":"t","inputSchema":{"x":1e2}}"#).input_schema(),
            r#"{"x":1e2}"#
        );
    }
}
