//! What a tool answered.

use mcp_telemetry::{ToolErrorCode, ToolReport};
use serde::Deserialize;
use serde_json::value::RawValue;

/// The result of a call, exactly as the server sent it (B5).
///
/// Nothing is decoded until somebody asks; what is asked for is read leniently, so that a block of an unknown kind or a
/// missing member costs nothing but itself.
#[derive(Debug)]
pub struct ToolOutput {
    raw: Box<RawValue>,
    report: ToolReport,
}

impl ToolOutput {
    /// `None` unless the result is a JSON object.
    pub(crate) fn new(raw: Box<RawValue>) -> Option<Self> {
        raw.get().starts_with('{').then(|| Self {
            report: ToolReport::read(&raw),
            raw,
        })
    }

    /// The result object: content, structured content, `_meta`, and whatever else the server put into it.
    #[must_use]
    pub fn raw(&self) -> &RawValue {
        &self.raw
    }

    /// The result object, owned.
    #[must_use]
    pub fn into_raw(self) -> Box<RawValue> {
        self.raw
    }

    /// Whether the tool says that it failed: `isError` is exactly `true`.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.report.error_code().is_some()
    }

    /// Why the tool says it failed; `None` unless [`is_error`](Self::is_error) (T3).
    #[must_use]
    pub fn error_code(&self) -> Option<&ToolErrorCode> {
        self.report.error_code()
    }

    /// The blocks of the content as they came; none when there is no content.
    #[must_use]
    pub fn content(&self) -> Vec<&RawValue> {
        #[derive(Deserialize)]
        struct Result<'a> {
            #[serde(borrow, default)]
            content: Option<Vec<&'a RawValue>>,
        }
        serde_json::from_str::<Result<'_>>(self.raw.get())
            .ok()
            .and_then(|result| result.content)
            .unwrap_or_default()
    }

    /// The text blocks, one after the other, separated by line ends.
    #[must_use]
    pub fn text(&self) -> String {
        #[derive(Deserialize)]
        struct Text {
            r#type: String,
            text: String,
        }
        let blocks = self.content();
        let texts = blocks
            .iter()
            .filter_map(|block| serde_json::from_str::<Text>(block.get()).ok());
        texts
            .filter(|block| block.r#type == "text")
            .map(|block| block.text)
            .collect::<Vec<_>>()
            .join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(json: &str) -> Option<ToolOutput> {
        ToolOutput::new(RawValue::from_string(json.to_owned()).unwrap())
    }

    /// B5
    #[test]
    fn the_result_is_what_the_server_sent() {
        let json = r#"{"zeta":1e2,"content":[{"type":"x-new","n":123456789012345678901},{"type":"text","text":"a"},{"type":"text","text":"b"}],"isError":false}"#;
        let output = output(json).unwrap();
        assert_eq!(output.text(), "a\nb");
        assert_eq!(output.content().len(), 3);
        assert!(!output.is_error());
        assert_eq!(output.into_raw().get(), json);
    }

    #[test]
    fn missing_content_reads_as_empty() {
        for json in [
            r#"{"structuredContent":{"a":1}}"#,
            r#"{"content":null}"#,
            r#"{"_meta":{}}"#,
            r#"{"content":7}"#,
        ] {
            assert_eq!(output(json).unwrap().content().len(), 0, "{json}");
        }
    }

    #[test]
    fn what_is_no_object_is_no_result() {
        for json in ["null", "[]", "\"done\"", "7"] {
            assert!(output(json).is_none(), "{json}");
        }
    }
}
