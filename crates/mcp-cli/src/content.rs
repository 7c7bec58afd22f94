//! A result as people read it: text as text, everything else as one line that says what it is.

use std::fmt::Write as _;
use std::io;

use mcp_runtime::ToolOutput;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::screen;

/// The members of a block, of whatever kind, that say what it is.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Block {
    r#type: String,
    text: Option<String>,
    data: Option<String>,
    mime_type: Option<String>,
    uri: Option<String>,
    name: Option<String>,
    size: Option<u64>,
    resource: Option<Resource>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Resource {
    uri: Option<String>,
    mime_type: Option<String>,
    text: Option<String>,
    blob: Option<String>,
}

/// Prints the blocks in their order; without any, the structured content, if there is some.
pub(crate) fn print(output: &ToolOutput) -> io::Result<()> {
    let blocks = output.content();
    if blocks.is_empty() {
        return match structured(output.raw()) {
            Some(structured) => screen::foreign_text(structured.get()),
            None => Ok(()),
        };
    }
    for block in blocks {
        screen::foreign_text(&shown(block))?;
    }
    Ok(())
}

fn structured(result: &RawValue) -> Option<&RawValue> {
    #[derive(Deserialize)]
    struct Structured<'a> {
        #[serde(borrow, rename = "structuredContent")]
        content: Option<&'a RawValue>,
    }
    serde_json::from_str::<Structured<'_>>(result.get())
        .ok()?
        .content
}

/// What is in a resource: text as it is.
pub(crate) fn resource(raw: &RawValue) -> String {
    let read: Resource = serde_json::from_str(raw.get()).unwrap_or_default();
    match read.text {
        Some(text) => text,
        None => {
            let size = read.blob.as_deref().map(decoded_len);
            note("resource", [read.uri, read.mime_type], size)
        }
    }
}

/// A text block is its text.
pub(crate) fn shown(raw: &RawValue) -> String {
    let block: Block = serde_json::from_str(raw.get()).unwrap_or_default();
    match (block.r#type.as_str(), block.text) {
        ("text", Some(text)) => text,
        ("image" | "audio", _) => {
            let size = block.data.as_deref().map(decoded_len);
            note(&block.r#type, [block.mime_type], size)
        }
        ("resource", _) => {
            let Resource {
                uri,
                mime_type,
                text,
                blob,
            } = block.resource.unwrap_or_default();
            let size = text.map(|text| text.len());
            let size = size.or(blob.as_deref().map(decoded_len));
            note("resource", [uri, mime_type], size)
        }
        ("resource_link", _) => {
            let size = block.size.and_then(|size| usize::try_from(size).ok());
            note(
                "resource_link",
                [block.name, block.uri, block.mime_type],
                size,
            )
        }
        ("", _) => note("block without a type", [], Some(raw.get().len())),
        (kind, _) => note(kind, [block.mime_type], Some(raw.get().len())),
    }
}

/// `[image image/png, 1234 bytes]`
fn note<const N: usize>(kind: &str, facts: [Option<String>; N], size: Option<usize>) -> String {
    let mut note = format!("[{kind}");
    for fact in facts.into_iter().flatten() {
        // Writing to a string does not fail.
        let _ = write!(note, " {fact}");
    }
    if let Some(size) = size {
        let _ = write!(
            note,
            ", {size} {}",
            if size == 1 { "byte" } else { "bytes" }
        );
    }
    note.push(']');
    // One line, whatever the server put into its names.
    note.replace(['\n', '\r'], " ")
}

/// How many bytes Base64 text stands for.
fn decoded_len(base64: &str) -> usize {
    base64.trim_end_matches('=').len() * 3 / 4
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(block: &str, expected: &str) {
        let raw = RawValue::from_string(block.to_owned()).unwrap();
        assert_eq!(shown(&raw), expected, "{block}");
    }

    #[test]
    fn a_resource_is_its_text_or_one_line() {
        for (contents, expected) in [
            (r#"{"uri":"a","text":"x\ny"}"#, "x\ny"),
            (
                r#"{"uri":"mem://a","mimeType":"image/png","blob":"aGVsbG8="}"#,
                "[resource mem://a image/png, 5 bytes]",
            ),
            ("7", "[resource]"),
        ] {
            let raw = RawValue::from_string(contents.to_owned()).unwrap();
            assert_eq!(resource(&raw), expected, "{contents}");
        }
    }

    #[test]
    fn text_is_text_and_the_rest_is_one_line() {
        check(r#"{"type":"text","text":"a\nb"}"#, "a\nb");
        check(
            r#"{"type":"image","mimeType":"image/png","data":"aGVsbG8="}"#,
            "[image image/png, 5 bytes]",
        );
        check(r#"{"type":"audio","data":"YQ=="}"#, "[audio, 1 byte]");
        check(
            r#"{"type":"resource","resource":{"uri":"file:///a","mimeType":"text/plain","text":"abc"}}"#,
            "[resource file:///a text/plain, 3 bytes]",
        );
        check(
            r#"{"type":"resource","resource":{"uri":"file:///a","blob":"aGVsbG8="}}"#,
            "[resource file:///a, 5 bytes]",
        );
        check(
            r#"{"type":"resource_link","name":"a","uri":"file:///a","size":12}"#,
            "[resource_link a file:///a, 12 bytes]",
        );
        check(r#"{"type":"x-new","n":1}"#, "[x-new, 22 bytes]"); // the JSON's size: there is no other
        check(r#"{"n":1}"#, "[block without a type, 7 bytes]");
        check("7", "[block without a type, 1 byte]");
        check(r#"{"type":"text"}"#, "[text, 15 bytes]"); // no text in it
        check(r#"{"type":"x\ny"}"#, "[x y, 15 bytes]");
    }
}
