//! A listed prompt.

use mcp_keys::McpServerKey;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::paging::Entries;

/// One listed prompt: whose it is, its name, and the definition exactly as the server sent it.
#[derive(Debug)]
pub struct Prompt {
    server: McpServerKey,
    name: String,
    definition: Box<RawValue>,
}

impl Prompt {
    /// The server that offers it.
    #[must_use]
    pub fn server(&self) -> &McpServerKey {
        &self.server
    }

    /// Its name as the server wrote it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The server's own object, unknown members included.
    #[must_use]
    pub fn definition(&self) -> &RawValue {
        &self.definition
    }

    /// The server's own object, owned.
    #[must_use]
    pub fn into_definition(self) -> Box<RawValue> {
        self.definition
    }
}

/// Reads the prompts of one server.
#[derive(Debug)]
pub(crate) struct Prompts(pub(crate) McpServerKey);

impl Entries for Prompts {
    type Item = Prompt;
    const METHOD: &'static str = "prompts/list";
    const CAPABILITY: &'static str = "prompts";
    const MEMBER: &'static str = "prompts";
    const NOUN: &'static str = "prompts";

    fn read(&mut self, definition: &RawValue) -> Result<Prompt, String> {
        #[derive(Deserialize)]
        struct Named {
            name: String,
        }
        match serde_json::from_str::<Named>(definition.get()) {
            // serde would read an array as the struct, member by member.
            Ok(Named { name }) if definition.get().starts_with('{') => Ok(Prompt {
                server: self.0.clone(),
                name,
                definition: definition.to_owned(),
            }),
            _ => Err("a prompt is left out: it is no object with a name".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prompts() -> Prompts {
        Prompts(McpServerKey::host("docs".parse().unwrap()))
    }

    fn raw(json: &str) -> Box<RawValue> {
        RawValue::from_string(json.to_owned()).unwrap()
    }

    /// P2
    #[test]
    fn a_definition_is_what_the_server_wrote() {
        let rows = [
            (
                r#"{"name":"review","arguments":[]}"#,
                "review",
                "a plain one",
            ),
            (r#"{"name":" a\u00e9\n"}"#, " a\u{e9}\n", "any text"),
            (
                r#"{ "n":1e2,"name":"x","n":null,"arguments":{} }"#,
                "x",
                "spellings, white space, repeated members, arguments of the wrong type",
            ),
        ];
        for (definition, name, why) in rows {
            let prompt = prompts().read(&raw(definition)).unwrap();
            assert_eq!(prompt.name(), name, "{why}");
            assert_eq!(prompt.into_definition().get(), definition, "{why}");
        }
    }

    /// R8
    #[test]
    fn what_cannot_be_named_is_left_out() {
        for entry in ["null", r#""a""#, r#"["a"]"#, "{}", r#"{"name":7}"#] {
            assert!(prompts().read(&raw(entry)).is_err(), "{entry}");
        }
    }
}
