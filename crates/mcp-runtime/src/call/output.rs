//! What a tool answered.

use mcp_telemetry::{ToolErrorCode, ToolReport};
use serde_json::value::RawValue;

use crate::object::Object;

/// The result of a call, exactly as the server sent it (B5).
///
/// Nothing is decoded until somebody asks; what is asked for is read leniently, so that a block of an unknown kind or a
/// missing member costs nothing but itself.
#[derive(Debug)]
pub struct ToolOutput {
    raw: Box<RawValue>,
    report: ToolReport,
    context: Vec<Box<RawValue>>,
}

impl ToolOutput {
    /// `None` unless the result is a JSON object.
    pub(crate) fn new(raw: Box<RawValue>) -> Option<Self> {
        raw.get().starts_with('{').then(|| Self {
            report: ToolReport::read(&raw),
            raw,
            context: Vec::new(),
        })
    }

    pub(super) fn with_context(mut self, context: Vec<Box<RawValue>>) -> Self {
        self.context = context;
        self
    }

    /// What the result says to those who watch it.
    pub(super) fn report(&self) -> &ToolReport {
        &self.report
    }

    /// What hooks have added for the host, in their order (H1). The server knows nothing of it.
    #[must_use]
    pub fn context(&self) -> &[Box<RawValue>] {
        &self.context
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
        let content = Object::of(&self.raw).read_as("content");
        content.unwrap_or_default()
    }

    /// The text blocks, one after the other, separated by line ends. Half a surrogate pair, which JSON can spell and no text
    /// holds, is replaced.
    #[must_use]
    pub fn text(&self) -> String {
        let blocks = self.content().into_iter().map(Object::of);
        let texts = blocks.filter(|block| block.text("type").as_deref() == Some("text"));
        let texts: Vec<_> = texts.filter_map(|block| block.text("text")).collect();
        texts.join("\n")
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

    /// B5: servers that cut texts at a length do not look where.
    #[test]
    fn a_text_that_was_cut_in_the_middle_of_a_character_is_shown() {
        let json = r#"{"content":[{"type":"text","text":"a\ud83d"},{"type":"text","text":"b","text":"c"}]}"#;
        let output = output(json).unwrap();
        assert!(output.text().starts_with("a\u{fffd}"), "{}", output.text());
        assert!(output.text().ends_with("\nc"), "{}", output.text());
        assert_eq!(output.raw().get(), json);
    }

    #[test]
    fn what_is_no_object_is_no_result() {
        for json in ["null", "[]", "\"done\"", "7"] {
            assert!(output(json).is_none(), "{json}");
        }
    }
}
