//! What the modern era repeats of a request in its headers, so that something between us and the server can route it
//! without reading the body: the method, the name of what is asked for, and arguments that the tool marks.

use std::borrow::Cow;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use http::{HeaderMap, HeaderName, HeaderValue};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::object::Object;

const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");
const PARAM_PREFIX: &str = "mcp-param-";
/// The member of a property's schema that names a header.
const ANNOTATION: &str = "x-mcp-header";

/// Why a tool's definition cannot be called over HTTP.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum InvalidAnnotation {
    /// It is somewhere else than on a property of the arguments.
    #[error("`x-mcp-header` stands where no argument is")]
    Misplaced,
    /// It is no name of a header.
    #[error("`x-mcp-header` of `{0}` is no header name")]
    Name(String),
    /// Two arguments would have the same header.
    #[error("`x-mcp-header` of `{0}` is used twice")]
    Twice(String),
    /// What it marks cannot be written into a header.
    #[error("`x-mcp-header` marks `{0}`, which is no string, integer or boolean")]
    NotPrimitive(String),
}

/// An argument that goes into a header too.
#[derive(Debug, PartialEq, Eq)]
struct Marked {
    /// The names that lead to it from the arguments.
    path: Vec<String>,
    header: HeaderName,
}

/// The headers of a request. `tool` is the definition of the tool that is called.
pub(super) fn headers(method: &str, message: &[u8], tool: Option<&RawValue>) -> HeaderMap {
    #[derive(Deserialize, Default)]
    struct Message<'a> {
        #[serde(borrow, default)]
        params: Params<'a>,
    }
    #[derive(Deserialize, Default)]
    #[serde(default)]
    struct Params<'a> {
        #[serde(borrow)]
        name: Option<Cow<'a, str>>,
        #[serde(borrow)]
        uri: Option<Cow<'a, str>>,
        #[serde(borrow)]
        arguments: Option<&'a RawValue>,
    }
    let mut headers = HeaderMap::new();
    headers.extend(
        HeaderValue::from_str(method)
            .ok()
            .map(|value| (METHOD, value)),
    );
    let params = match method {
        "tools/call" | "prompts/get" | "resources/read" => {
            // Our own message: it has what we have put into it.
            serde_json::from_slice::<Message<'_>>(message)
                .unwrap_or_default()
                .params
        }
        _ => Params::default(),
    };
    let name = params.name.or(params.uri);
    headers.extend(name.and_then(|name| Some((NAME, value(&name)?))));
    if let (Some(tool), Some(arguments)) = (tool, params.arguments)
        && let Ok(marked) = marked(tool)
        && !marked.is_empty()
    {
        headers.extend(marked.into_iter().filter_map(|Marked { path, header }| {
            let argument = path
                .iter()
                .try_fold(arguments, |value, name| Object::of(value).get(name))?;
            Some((header, value(&primitive(argument)?)?))
        }));
    }
    headers
}

/// Whether a tool can be called: a definition with marks that cannot be followed must not be used.
pub(crate) fn check(tool: &RawValue) -> Result<(), InvalidAnnotation> {
    marked(tool).map(drop)
}

fn marked(tool: &RawValue) -> Result<Vec<Marked>, InvalidAnnotation> {
    #[derive(Deserialize)]
    struct Definition {
        #[serde(rename = "inputSchema")]
        schema: Value,
    }
    let mut found = Vec::new();
    // Nearly every tool has none, and a look at the text is cheap.
    if memchr::memmem::find(tool.get().as_bytes(), ANNOTATION.as_bytes()).is_none() {
        return Ok(found);
    }
    let Ok(Definition { schema }) = serde_json::from_str(tool.get()) else {
        return Ok(found);
    };
    if schema.get(ANNOTATION).is_some() {
        return Err(InvalidAnnotation::Misplaced);
    }
    collect(&schema, &mut Vec::new(), &mut found)?;
    Ok(found)
}

/// Looks through a schema whose properties are arguments, or parts of them.
fn collect(
    schema: &Value,
    path: &mut Vec<String>,
    found: &mut Vec<Marked>,
) -> Result<(), InvalidAnnotation> {
    for (keyword, below) in schema.as_object().into_iter().flatten() {
        match keyword.as_str() {
            "properties" => {
                for (name, property) in below.as_object().into_iter().flatten() {
                    path.push(name.clone());
                    if let Some(mark) = property.get(ANNOTATION) {
                        found.push(mark_of(path, property, mark, found)?);
                    }
                    collect(property, path, found)?;
                    path.pop();
                }
            }
            // Data, not schemas; and the mark itself.
            "default" | "const" | "enum" | "examples" | "dependentRequired" | ANNOTATION => {}
            _ if is_marked(below) => return Err(InvalidAnnotation::Misplaced),
            _ => {}
        }
    }
    Ok(())
}

fn mark_of(
    path: &[String],
    property: &Value,
    mark: &Value,
    found: &[Marked],
) -> Result<Marked, InvalidAnnotation> {
    let shown = path.join(".");
    let name = mark.as_str().filter(|name| !name.is_empty());
    let header = name.and_then(|name| format!("{PARAM_PREFIX}{name}").parse::<HeaderName>().ok());
    let header = header.ok_or_else(|| InvalidAnnotation::Name(shown.clone()))?;
    if found.iter().any(|other| other.header == header) {
        return Err(InvalidAnnotation::Twice(shown));
    }
    let kind = property.get("type").and_then(Value::as_str);
    if !matches!(kind, Some("string" | "integer" | "boolean")) {
        return Err(InvalidAnnotation::NotPrimitive(shown));
    }
    Ok(Marked {
        path: path.to_vec(),
        header,
    })
}

/// Whether a mark stands anywhere in a schema that is no argument.
fn is_marked(schema: &Value) -> bool {
    match schema {
        Value::Object(members) => members
            .iter()
            .any(|(keyword, below)| match keyword.as_str() {
                ANNOTATION => true,
                "default" | "const" | "enum" | "examples" | "dependentRequired" => false,
                _ => is_marked(below),
            }),
        Value::Array(items) => items.iter().any(is_marked),
        _ => false,
    }
}

/// The text of an argument. A number is spelled as it is in the body, with which the header is compared.
fn primitive(value: &RawValue) -> Option<Cow<'_, str>> {
    match value.get().as_bytes().first()? {
        b'"' => serde_json::from_str(value.get()).ok().map(Cow::Owned),
        b't' | b'f' | b'-' | b'0'..=b'9' => Some(value.get().into()),
        _ => None,
    }
}

/// A text as the value of a header: wrapped in base64 where it could not stand as it is.
fn value(text: &str) -> Option<HeaderValue> {
    let plain = text.bytes().all(|byte| matches!(byte, 0x20..=0x7E))
        && text.trim_matches([' ', '\t']) == text
        && !(text.starts_with("=?base64?") && text.ends_with("?="));
    if plain {
        return HeaderValue::from_str(text).ok();
    }
    HeaderValue::from_str(&format!("=?base64?{}?=", BASE64_STANDARD.encode(text))).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tool(schema: &Value) -> Box<RawValue> {
        serde_json::value::to_raw_value(&json!({"name": "t", "inputSchema": schema})).unwrap()
    }

    fn text(headers: &HeaderMap) -> String {
        let mut lines: Vec<_> = headers
            .iter()
            .map(|(name, value)| format!("{name}: {}", value.to_str().unwrap()))
            .collect();
        lines.sort_unstable();
        lines.join("\n")
    }

    #[test]
    fn method_and_name_are_repeated() {
        let rows = [
            (
                "tools/list",
                json!({"params": {"cursor": "x"}}),
                "mcp-method: tools/list",
            ),
            (
                "tools/call",
                json!({"params": {"name": "a b"}}),
                "mcp-method: tools/call\nmcp-name: a b",
            ),
            (
                "tools/call",
                json!({"params": {"name": "é"}}),
                "mcp-method: tools/call\nmcp-name: =?base64?w6k=?=",
            ),
            (
                "tools/call",
                json!({"params": {"name": " a"}}),
                "mcp-method: tools/call\nmcp-name: =?base64?IGE=?=",
            ),
            (
                "tools/call",
                json!({"params": {"name": "=?base64?eA==?="}}),
                "mcp-method: tools/call\nmcp-name: =?base64?PT9iYXNlNjQ/ZUE9PT89?=",
            ),
            (
                "resources/read",
                json!({"params": {"uri": "file:///x"}}),
                "mcp-method: resources/read\nmcp-name: file:///x",
            ),
        ];
        for (method, message, expected) in rows {
            let message = message.to_string();
            assert_eq!(
                text(&headers(method, message.as_bytes(), None)),
                expected,
                "{message}"
            );
        }
    }

    #[test]
    fn marked_arguments_are_repeated() {
        let tool = tool(&json!({"properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "deep": {"properties": {"count": {"type": "integer", "x-mcp-header": "Count"}}},
            "dry": {"type": "boolean", "x-mcp-header": "Dry"},
            "absent": {"type": "string", "x-mcp-header": "Absent"},
            "nothing": {"type": "string", "x-mcp-header": "Nothing"},
        }}));
        let arguments =
            json!({"region": "eu", "deep": {"count": 3}, "dry": false, "nothing": null});
        let message = json!({"params": {"name": "t", "arguments": arguments}}).to_string();
        assert_eq!(
            text(&headers("tools/call", message.as_bytes(), Some(&tool))),
            "mcp-method: tools/call\nmcp-name: t\nmcp-param-count: 3\nmcp-param-dry: false\nmcp-param-region: eu"
        );
    }

    #[test]
    fn a_number_is_spelled_as_in_the_body() {
        let tool = tool(&json!({"properties": {
            "n": {"type": "integer", "x-mcp-header": "N"},
            "t": {"type": "string", "x-mcp-header": "T"},
        }}));
        let rows = [
            (
                "123456789012345678901234567890",
                "an integer beyond 64 bits",
            ),
            ("-7", "a sign"),
            ("3.0", "a fraction that is none"),
            ("1e2", "an exponent"),
        ];
        for (number, reason) in rows {
            let message = format!(
                r#"{{"params":{{"name":"t","arguments":{{"n":0,"t":[1],"n":{number}}}}}}}"#
            );
            let headers = headers("tools/call", message.as_bytes(), Some(&tool));
            assert_eq!(headers["mcp-param-n"], number, "{reason}");
            assert!(
                !headers.contains_key("mcp-param-t"),
                "what is no text is not repeated"
            );
        }
    }

    #[test]
    fn marks_that_cannot_be_followed_are_told() {
        let a = || "a".to_owned();
        let rows = [
            (json!({"properties": {"a": {"type": "string"}}}), Ok(())),
            (
                json!({"properties": {"a": {"type": "string", "default": "x-mcp-header"}}}),
                Ok(()),
            ),
            (
                json!({"x-mcp-header": "A"}),
                Err(InvalidAnnotation::Misplaced),
            ),
            (
                json!({"items": {"x-mcp-header": "A"}}),
                Err(InvalidAnnotation::Misplaced),
            ),
            (
                json!({"$defs": {"d": {"type": "string", "x-mcp-header": "A"}}}),
                Err(InvalidAnnotation::Misplaced),
            ),
            (
                json!({"properties": {"a": {"type": "string", "x-mcp-header": ""}}}),
                Err(InvalidAnnotation::Name(a())),
            ),
            (
                json!({"properties": {"a": {"type": "string", "x-mcp-header": "a b"}}}),
                Err(InvalidAnnotation::Name(a())),
            ),
            (
                json!({"properties": {"a": {"type": "string", "x-mcp-header": 1}}}),
                Err(InvalidAnnotation::Name(a())),
            ),
            (
                json!({"properties": {"a": {"type": "number", "x-mcp-header": "A"}}}),
                Err(InvalidAnnotation::NotPrimitive(a())),
            ),
            (
                json!({"properties": {
                    "a": {"type": "string", "x-mcp-header": "H"},
                    "b": {"type": "string", "x-mcp-header": "h"},
                }}),
                Err(InvalidAnnotation::Twice("b".to_owned())),
            ),
        ];
        for (schema, expected) in rows {
            assert_eq!(check(&tool(&schema)), expected, "{schema}");
        }
    }
}
