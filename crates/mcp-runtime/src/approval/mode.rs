//! How a server's or a tool's calls are decided on.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::object::Object;
use crate::tool::Tool;

/// How calls are decided on (A1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum ApprovalMode {
    /// As the server says of its tool: what only reads and destroys nothing runs, for the rest somebody is asked. Only for
    /// servers that one trusts.
    Auto,
    /// Somebody is asked, unless the tool was approved before. With nobody to ask: no.
    Prompt,
    /// Yes.
    Approve,
    /// No.
    Deny,
}

/// The modes of a server and of some of its tools.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ApprovalModes {
    pub(crate) server: Option<ApprovalMode>,
    pub(crate) tools: BTreeMap<String, ApprovalMode>,
}

impl ApprovalModes {
    /// The mode of a tool; `None` where the host's policy decides.
    pub(crate) fn of(&self, tool: &str) -> Option<ApprovalMode> {
        self.tools.get(tool).copied().or(self.server)
    }
}

/// Whether the server says that the tool reads and destroys nothing.
pub(super) fn is_harmless(tool: &Tool) -> bool {
    let definition = Object::of(tool.definition());
    let Some(annotations) = definition.get("annotations") else {
        return false;
    };
    let annotations = Object::of(annotations);
    annotations.read_as("readOnlyHint") == Some(true)
        && annotations.read_as("destructiveHint") != Some(true)
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::*;

    /// A1
    #[test]
    fn only_what_says_that_it_reads_is_harmless() {
        for (annotations, expected, why) in [
            ("null", false, "it says nothing"),
            ("{}", false, "nor here"),
            (r#"{"readOnlyHint":true}"#, true, "it reads"),
            (r#"{"readOnlyHint":"true"}"#, false, "a text is no yes"),
            (
                r#"{"readOnlyHint":false,"destructiveHint":false}"#,
                false,
                "it writes",
            ),
            (
                r#"{"readOnlyHint":true,"destructiveHint":true}"#,
                false,
                "it contradicts itself",
            ),
            (
                r#"{"readOnlyHint":true,"destructiveHint":false}"#,
                true,
                "it says both",
            ),
            (r#"["readOnlyHint",true]"#, false, "of the wrong kind"),
        ] {
            let definition = format!(r#"{{"name":"t","annotations":{annotations}}}"#);
            let definition = RawValue::from_string(definition).unwrap();
            let tool = Tool::new("t".parse().unwrap(), definition);
            assert_eq!(is_harmless(&tool), expected, "{why}");
        }
    }

    #[test]
    fn a_tool_has_its_own_mode_before_that_of_its_server() {
        let modes = ApprovalModes {
            server: Some(ApprovalMode::Deny),
            tools: BTreeMap::from([("read".to_owned(), ApprovalMode::Approve)]),
        };
        assert_eq!(modes.of("read"), Some(ApprovalMode::Approve));
        assert_eq!(modes.of("write"), Some(ApprovalMode::Deny));
        assert_eq!(ApprovalModes::default().of("read"), None);
    }
}
