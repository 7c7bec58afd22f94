//! What a tool's result says to those who watch it.

use serde_json::value::RawValue;

use crate::members::{boolean, pick, string};
use crate::tool_error_code::ToolErrorCode;

/// Characters of a target id, at most; a longer one is cut, as the recorded host does.
const MAX_TARGET_ID_CHARACTERS: usize = 256;

/// What the result of `tools/call` carries for telemetry (T3).
///
/// Reading it neither copies nor decodes the content, however large, and fails on nothing: repeated members, wrong
/// types and unrecognised metadata only mean that there is less to report. Nothing else of the result is kept (T6).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ToolReport {
    error_code: Option<ToolErrorCode>,
    target_id: Option<String>,
    did_trigger_server_user_flow: Option<bool>,
}

impl ToolReport {
    /// Reads the `result` member of the response, as the server sent it.
    #[must_use]
    pub fn read(result: &RawValue) -> Self {
        let [is_error, structured, meta] =
            pick(Some(result), ["isError", "structuredContent", "_meta"]);
        let [telemetry, apps] = pick(meta, ["codex/telemetry", "_codex_apps"]);
        let [telemetry_code, span] = pick(telemetry, ["error_code", "span"]);
        let [target_id, user_flow] = pick(span, ["target_id", "did_trigger_server_user_flow"]);
        let error_code = (boolean(is_error) == Some(true)).then(|| {
            structured_code(structured)
                .or_else(|| connector_code(apps))
                .or_else(|| ToolErrorCode::allow_listed(&string(telemetry_code)?))
                .unwrap_or(ToolErrorCode::UNKNOWN)
        });
        Self {
            error_code,
            target_id: string(target_id).and_then(cut_target_id),
            did_trigger_server_user_flow: boolean(user_flow),
        }
    }

    /// Why the tool failed; `None` unless `isError` is exactly `true`.
    #[must_use]
    pub fn error_code(&self) -> Option<&ToolErrorCode> {
        self.error_code.as_ref()
    }

    /// What the tool worked on, in the server's words: 1 to 256 characters, for the span only.
    #[must_use]
    pub fn target_id(&self) -> Option<&str> {
        self.target_id.as_deref()
    }

    /// Whether the call led the user into a flow of the server, as far as the server says.
    #[must_use]
    pub fn did_trigger_server_user_flow(&self) -> Option<bool> {
        self.did_trigger_server_user_flow
    }
}

fn structured_code(structured: Option<&RawValue>) -> Option<ToolErrorCode> {
    let [code] = pick(structured, ["error_code"]);
    ToolErrorCode::free_form(&string(code)?)
}

fn connector_code(apps: Option<&RawValue>) -> Option<ToolErrorCode> {
    let [failure] = pick(apps, ["connector_auth_failure"]);
    let [is_failure, code] = pick(failure, ["is_auth_failure", "error_code"]);
    if boolean(is_failure) != Some(true) {
        return None;
    }
    ToolErrorCode::free_form(&string(code)?)
}

fn cut_target_id(mut text: String) -> Option<String> {
    if let Some((end, _)) = text.char_indices().nth(MAX_TARGET_ID_CHARACTERS) {
        text.truncate(end);
        text.shrink_to_fit();
    }
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(result: &str, expected: Option<&str>, why: &str) {
        let raw: &RawValue = serde_json::from_str(result).unwrap();
        let report = ToolReport::read(raw);
        assert_eq!(
            report.error_code().map(ToolErrorCode::as_str),
            expected,
            "{why}: {result}"
        );
    }

    /// T3: only the boolean counts.
    #[test]
    fn a_result_fails_only_when_is_error_is_exactly_true() {
        for not_true in ["false", "null", "1", r#""true""#, "[true]", "{}"] {
            let result =
                format!(r#"{{"isError":{not_true},"structuredContent":{{"error_code":"X"}}}}"#);
            check(&result, None, "not `true`");
        }
        check(
            r#"{"isError":false,"isError":true}"#,
            Some("unknown"),
            "the last of a repeated member",
        );
        check(
            r#"{"isError":true,"isError":false}"#,
            None,
            "the last of a repeated member",
        );
        check(
            r#"{"is\u0045rror":true}"#,
            Some("unknown"),
            "an escaped name is the same name",
        );
        for no_object in ["null", "[]", "true", "\"isError\"", "1e400"] {
            check(no_object, None, "no result at all");
        }
    }

    /// T3
    #[test]
    fn the_first_source_that_names_a_code_wins() {
        let meta = r#""_meta":{"codex/telemetry":{"error_code":"type_error"},"_codex_apps":{"connector_auth_failure":{"is_auth_failure":true,"error_code":"UNAUTH"}}}"#;
        let rows = [
            (r#"{"error_code":"A"}"#, "A", "structured content first"),
            (r#"{"error_code":""}"#, "UNAUTH", "an empty code is none"),
            (r#"{"error_code":7}"#, "UNAUTH", "a number is no code"),
            (
                r#"{"error_code":"\ud800"}"#,
                "UNAUTH",
                "half a surrogate pair is no string",
            ),
            (
                r#"[{"error_code":"A"}]"#,
                "UNAUTH",
                "an array has no members",
            ),
            (r#""A""#, "UNAUTH", "a string has no members"),
        ];
        for (structured, expected, why) in rows {
            check(
                &format!(r#"{{"isError":true,"structuredContent":{structured},{meta}}}"#),
                Some(expected),
                why,
            );
        }
    }

    /// T3
    #[test]
    fn connector_metadata_counts_only_when_it_is_a_failure() {
        let rows = [
            (
                r#"{"is_auth_failure":true,"error_code":"a b"}"#,
                "a_b",
                "sanitised as well",
            ),
            (
                r#"{"is_auth_failure":false,"error_code":"X"}"#,
                "type_error",
                "no failure",
            ),
            (
                r#"{"is_auth_failure":"true","error_code":"X"}"#,
                "type_error",
                "exactly `true`",
            ),
            (r#"{"error_code":"X"}"#, "type_error", "does not say"),
            (r#"{"is_auth_failure":true}"#, "type_error", "names no code"),
            ("null", "type_error", "no metadata"),
        ];
        for (failure, expected, why) in rows {
            let meta = format!(
                r#"{{"_codex_apps":{{"connector_auth_failure":{failure}}},"codex/telemetry":{{"error_code":"type_error"}}}}"#
            );
            check(
                &format!(r#"{{"isError":true,"_meta":{meta}}}"#),
                Some(expected),
                why,
            );
        }
    }

    #[track_caller]
    fn check_span(span: &str, target_id: Option<&str>, user_flow: Option<bool>) {
        let json = format!(r#"{{"_meta":{{"codex/telemetry":{{"span":{span}}}}}}}"#);
        let raw: &RawValue = serde_json::from_str(&json).unwrap();
        let report = ToolReport::read(raw);
        assert_eq!(report.target_id(), target_id, "{span}");
        assert_eq!(report.did_trigger_server_user_flow(), user_flow, "{span}");
    }

    #[test]
    fn span_fields_of_the_wrong_type_are_ignored_and_long_ones_cut() {
        check_span(
            r#"{"target_id":"t","did_trigger_server_user_flow":true}"#,
            Some("t"),
            Some(true),
        );
        check_span(
            r#"{"did_trigger_server_user_flow":false}"#,
            None,
            Some(false),
        );
        check_span(
            r#"{"target_id":"","did_trigger_server_user_flow":1}"#,
            None,
            None,
        );
        check_span(
            r#"{"target_id":["t"],"did_trigger_server_user_flow":"true"}"#,
            None,
            None,
        );
        let longest = "ü".repeat(256);
        check_span(
            &format!(r#"{{"target_id":"{longest}"}}"#),
            Some(&longest),
            None,
        );
        check_span(
            &format!(r#"{{"target_id":"{longest}x"}}"#),
            Some(&longest),
            None,
        );
        check_span("null", None, None);
    }
}
