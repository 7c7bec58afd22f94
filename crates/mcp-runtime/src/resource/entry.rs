//! A listed resource, and a listed template of resources.

use mcp_keys::McpServerKey;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::paging::Entries;

/// One listed resource: whose it is, its URI, and the definition exactly as the server sent it.
#[derive(Debug)]
pub struct Resource {
    server: McpServerKey,
    uri: String,
    definition: Box<RawValue>,
}

impl Resource {
    /// The server that offers it.
    #[must_use]
    pub fn server(&self) -> &McpServerKey {
        &self.server
    }

    /// Its URI as the server wrote it; nobody has checked that it is one.
    #[must_use]
    pub fn uri(&self) -> &str {
        &self.uri
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

/// One listed template: whose it is, how its URIs are made, and the definition exactly as the server sent it.
#[derive(Debug)]
pub struct ResourceTemplate {
    server: McpServerKey,
    uri_template: String,
    definition: Box<RawValue>,
}

impl ResourceTemplate {
    /// The server that offers it.
    #[must_use]
    pub fn server(&self) -> &McpServerKey {
        &self.server
    }

    /// The template of its URIs as the server wrote it; nobody has checked that it is one.
    #[must_use]
    pub fn uri_template(&self) -> &str {
        &self.uri_template
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

/// Reads the resources of one server.
#[derive(Debug)]
pub(crate) struct Resources(pub(crate) McpServerKey);

impl Entries for Resources {
    type Item = Resource;
    const METHOD: &'static str = "resources/list";
    const CAPABILITY: &'static str = "resources";
    const MEMBER: &'static str = "resources";
    const NOUN: &'static str = "resources";

    fn read(&mut self, definition: &RawValue) -> Result<Resource, String> {
        #[derive(Deserialize)]
        struct Located {
            uri: String,
        }
        match serde_json::from_str::<Located>(definition.get()) {
            // serde would read an array as the struct, member by member.
            Ok(Located { uri }) if definition.get().starts_with('{') => Ok(Resource {
                server: self.0.clone(),
                uri,
                definition: definition.to_owned(),
            }),
            _ => Err("a resource is left out: it is no object with a URI".to_owned()),
        }
    }
}

/// Reads the templates of one server.
#[derive(Debug)]
pub(crate) struct ResourceTemplates(pub(crate) McpServerKey);

impl Entries for ResourceTemplates {
    type Item = ResourceTemplate;
    const METHOD: &'static str = "resources/templates/list";
    const CAPABILITY: &'static str = "resources";
    const MEMBER: &'static str = "resourceTemplates";
    const NOUN: &'static str = "resource templates";

    fn read(&mut self, definition: &RawValue) -> Result<ResourceTemplate, String> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Located {
            uri_template: String,
        }
        match serde_json::from_str::<Located>(definition.get()) {
            Ok(Located { uri_template }) if definition.get().starts_with('{') => {
                Ok(ResourceTemplate {
                    server: self.0.clone(),
                    uri_template,
                    definition: definition.to_owned(),
                })
            }
            _ => Err("a resource template is left out: it is no object with a URI template".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server() -> McpServerKey {
        McpServerKey::host("docs".parse().unwrap())
    }

    fn raw(json: &str) -> Box<RawValue> {
        RawValue::from_string(json.to_owned()).unwrap()
    }

    /// P1
    #[test]
    fn a_definition_is_what_the_server_wrote() {
        let rows = [
            (r#"{"uri":"mem://a","name":"a"}"#, "mem://a", "a plain one"),
            (r#"{"uri":"not a URI"}"#, "not a URI", "a URI that is none"),
            (r#"{"uri":""}"#, "", "an empty one"),
            (r#"{"uri":"a\u00e9\n\/"}"#, "a\u{e9}\n/", "an escaped one"),
            (
                r#"{ "size":5000000000123456789012,"uri":"x","n":1e2,"n":null }"#,
                "x",
                "sizes, spellings, white space and repeated members",
            ),
        ];
        for (definition, uri, why) in rows {
            let resource = Resources(server()).read(&raw(definition)).unwrap();
            assert_eq!(resource.uri(), uri, "{why}");
            assert_eq!(resource.server(), &server(), "{why}");
            assert_eq!(resource.into_definition().get(), definition, "{why}");
        }
        let definition = r#"{"uriTemplate":"mem://{id}/x{?q*}","vendor":2e0}"#;
        let template = ResourceTemplates(server()).read(&raw(definition)).unwrap();
        assert_eq!(template.uri_template(), "mem://{id}/x{?q*}");
        assert_eq!(template.into_definition().get(), definition);
    }

    /// R8
    #[test]
    fn what_cannot_be_addressed_is_left_out() {
        let rows = ["null", "7", r#""mem://a""#, r#"["mem://a"]"#, "{}"];
        let no_uri = [r#"{"uri":null}"#, r#"{"uri":7}"#, r#"{"URI":"a"}"#];
        for entry in rows.iter().chain(&no_uri) {
            let refused = Resources(server()).read(&raw(entry));
            assert!(refused.is_err(), "{entry} as a resource");
            let refused = ResourceTemplates(server()).read(&raw(entry));
            assert!(refused.is_err(), "{entry} as a template");
        }
    }
}
