//! The code of a tool's own failure.

use std::borrow::Cow;
use std::fmt;

use serde::ser::{Serialize, Serializer};

/// Characters of a code, at most (T3).
const MAX_CHARACTERS: usize = 256;

/// The codes that `_meta["codex/telemetry"]` may name.
const TELEMETRY_CODES: [&str; 16] = [
    "type_error",
    "import_error",
    "syntax_error",
    "reference_error",
    "execution_error",
    "execution_timeout",
    "execution_rejected",
    "execution_cancelled",
    "execution_reset",
    "uncaught_exception",
    "unhandled_rejection",
    "kernel_start_failed",
    "kernel_exited",
    "kernel_io_error",
    "locator_timeout",
    "guardian_denied",
];

const UNKNOWN: &str = "unknown";

/// Why a tool says it failed (T3): `[A-Za-z0-9._/-]` and `_` only, 1 to 256 characters.
///
/// Unlike [`ErrorCode`](crate::ErrorCode) the set is open, since servers may name codes of their own: before one
/// becomes the attribute of a metric, the number of distinct ones has to be bounded. See [`is_free_form`](Self::is_free_form).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ToolErrorCode(Cow<'static, str>);

impl ToolErrorCode {
    /// The tool failed and named no code that counts.
    pub const UNKNOWN: Self = Self(Cow::Borrowed(UNKNOWN));

    /// A code that a server may choose freely: other characters become `_`, what is too long is cut, and an empty text is none.
    pub(crate) fn free_form(text: &str) -> Option<Self> {
        let sanitised: String = text.chars().take(MAX_CHARACTERS).map(sanitise).collect();
        (!sanitised.is_empty()).then_some(Self(Cow::Owned(sanitised)))
    }

    /// A code that has to be one of the allow-listed ones.
    pub(crate) fn allow_listed(text: &str) -> Option<Self> {
        let known = TELEMETRY_CODES.iter().find(|known| **known == text)?;
        Some(Self(Cow::Borrowed(known)))
    }

    /// The code.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The code, where it is one of a bounded number.
    #[cfg(feature = "record")]
    pub(crate) fn as_static(&self) -> Option<&'static str> {
        let mut bounded = TELEMETRY_CODES.into_iter().chain([UNKNOWN]);
        bounded.find(|known| *known == self.as_str())
    }

    /// Whether this is a server's own word, neither allow-listed nor `unknown`: one of an unbounded number.
    #[must_use]
    pub fn is_free_form(&self) -> bool {
        self.0 != UNKNOWN && !TELEMETRY_CODES.contains(&self.as_str())
    }
}

fn sanitise(character: char) -> char {
    match character {
        'A'..='Z' | 'a'..='z' | '0'..='9' | '.' | '_' | '/' | '-' => character,
        _ => '_',
    }
}

impl fmt::Display for ToolErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl Serialize for ToolErrorCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};

    #[track_caller]
    fn check(text: &str, expected: Option<&str>) {
        let code = ToolErrorCode::free_form(text);
        assert_eq!(
            code.as_ref().map(ToolErrorCode::as_str),
            expected,
            "{text:?}"
        );
    }

    /// T3
    #[test]
    fn free_form_codes_are_sanitised_and_cut() {
        check("RATE_LIMITED", Some("RATE_LIMITED"));
        check("a.b_c/d-9", Some("a.b_c/d-9"));
        check("no such file: ü\n", Some("no_such_file____"));
        check(" ", Some("_"));
        check("", None);
        check(&"€".repeat(257), Some(&"_".repeat(256)));
        check(&"x".repeat(256), Some(&"x".repeat(256)));
    }

    /// T3
    #[test]
    fn only_the_allow_list_and_unknown_are_bounded() {
        for text in TELEMETRY_CODES {
            let code = ToolErrorCode::allow_listed(text).unwrap();
            assert_eq!((code.as_str(), code.is_free_form()), (text, false));
            assert_eq!(
                ToolErrorCode::free_form(text),
                Some(code),
                "the same from either source"
            );
        }
        assert!(!ToolErrorCode::UNKNOWN.is_free_form());
        assert!(
            ToolErrorCode::free_form("RATE_LIMITED")
                .unwrap()
                .is_free_form()
        );
        for text in ["Type_error", "type_error ", "unknown", ""] {
            assert_eq!(ToolErrorCode::allow_listed(text), None, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn any_text_becomes_a_harmless_code(text in any::<String>()) {
            match ToolErrorCode::free_form(&text) {
                None => prop_assert!(text.is_empty()),
                Some(code) => {
                    prop_assert_eq!(code.as_str().len(), text.chars().count().min(256));
                    prop_assert!(code.as_str().bytes().all(|b| b.is_ascii_alphanumeric() || b"._/-".contains(&b)));
                }
            }
        }
    }
}
