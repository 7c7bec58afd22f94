//! What belongs to a server, with the members that say to which.

use std::fmt;

use mcp_runtime::{McpServerKey, Prompt, QueryError, Resource, ResourceTemplate};
use serde::de::{Deserializer as _, MapAccess, Visitor};
use serde::ser::Error as _;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use super::ErrorReport;

/// A server's own object, to which `server` and `environment_id` are added.
///
/// The object's other members stay as they are spelled, in their order. Members of these two names that the server wrote
/// itself give way, the second also where no environment owns the server: only a key says whose something is.
#[derive(Debug)]
pub(crate) struct Owned {
    server: McpServerKey,
    object: Box<RawValue>,
}

/// A server that failed where others did not.
#[derive(Debug, Serialize)]
pub(crate) struct OwnedError {
    #[serde(flatten)]
    server: Option<McpServerKey>,
    error: ErrorReport,
}

impl Owned {
    /// Whose it is.
    pub(crate) fn server(&self) -> &McpServerKey {
        &self.server
    }

    /// The server's own object.
    pub(crate) fn object(&self) -> &RawValue {
        &self.object
    }

    /// The object as JSON.
    fn text(&self) -> serde_json::Result<String> {
        let mut text = serde_json::to_string(&self.server)?;
        // The end of the key, which is never empty.
        text.pop();
        let mut object = serde_json::Deserializer::from_str(self.object.get());
        object.deserialize_map(Others(&mut text))?;
        text.push('}');
        Ok(text)
    }
}

impl From<Resource> for Owned {
    fn from(resource: Resource) -> Self {
        Self {
            server: resource.server().clone(),
            object: resource.into_definition(),
        }
    }
}

impl From<ResourceTemplate> for Owned {
    fn from(template: ResourceTemplate) -> Self {
        Self {
            server: template.server().clone(),
            object: template.into_definition(),
        }
    }
}

impl From<Prompt> for Owned {
    fn from(prompt: Prompt) -> Self {
        Self {
            server: prompt.server().clone(),
            object: prompt.into_definition(),
        }
    }
}

impl OwnedError {
    pub(crate) fn new(error: &QueryError) -> Self {
        Self {
            server: error.server().cloned(),
            error: ErrorReport::of_query(error),
        }
    }
}

impl Serialize for Owned {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let object = self.text().and_then(RawValue::from_string);
        object.map_err(S::Error::custom)?.serialize(serializer)
    }
}

/// Adds the members of an object to a text, but for those that are ours.
struct Others<'a>(&'a mut String);

impl<'de> Visitor<'de> for Others<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut members: M) -> Result<(), M::Error> {
        while let Some((name, value)) = members.next_entry::<&RawValue, &RawValue>()? {
            // A name can be spelled in many ways. One that no text can hold is not ours.
            let decoded = serde_json::from_str::<String>(name.get());
            if !matches!(decoded.as_deref(), Ok("server" | "environment_id")) {
                for part in [",", name.get(), ":", value.get()] {
                    self.0.push_str(part);
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The object of a server `docs`, of the host's own and of an environment `ci`.
    #[track_caller]
    fn check(object: &str, others: &str, why: &str) {
        let host = r#"{"server":"docs""#;
        for owner in [host.to_owned(), format!(r#"{host},"environment_id":"ci""#)] {
            let owned = Owned {
                server: serde_json::from_str(&format!("{owner}}}")).unwrap(),
                object: RawValue::from_string(object.to_owned()).unwrap(),
            };
            let written = serde_json::to_string(&owned).unwrap();
            assert_eq!(written, format!("{owner}{others}}}"), "{why}");
        }
    }

    #[test]
    fn the_servers_members_stay_as_they_are() {
        check("{}", "", "nothing at all");
        check(
            r#"{"uri":"a\u00e9\/","size":5e9,"n":123456789012345678901,"x":null}"#,
            r#","uri":"a\u00e9\/","size":5e9,"n":123456789012345678901,"x":null"#,
            "spelling and order",
        );
        check(r#"{"a":1,"a":2}"#, r#","a":1,"a":2"#, "repetitions");
        check(
            r#"{"\u0061":1,"\ud800":[ 1 ]}"#,
            r#","\u0061":1,"\ud800":[ 1 ]"#,
            "names, however they are spelled",
        );
        check(
            r#"{"_meta":{"server":"inner"}}"#,
            r#","_meta":{"server":"inner"}"#,
            "what is further in",
        );
    }

    /// K2: only a key says whose something is.
    #[test]
    fn a_server_cannot_say_whose_its_objects_are() {
        check(
            r#"{"server":"other","uri":"a","environment_id":"moon"}"#,
            r#","uri":"a""#,
            "both members of its own",
        );
        check(
            r#"{"uri":"a","serv\u0065r":{"x":1},"server":2,"environment\u005fid":null}"#,
            r#","uri":"a""#,
            "repeated, and spelled otherwise",
        );
    }
}
