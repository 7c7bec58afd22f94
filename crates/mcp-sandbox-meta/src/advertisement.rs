//! Whether a server asked to be told its sandbox state.

use serde_json::{Map, Value};

use crate::members::{self, Member};
use crate::reserved::{SANDBOX_STATE_KEY, SANDBOX_STATE_META_KEY};

/// Whether a server opts in to sandbox metadata (S1): `initialize_result` is the JSON text of its answer to `initialize`
/// (or `server/discover`), the object with the member `capabilities`.
///
/// Only the presence of `codex/sandbox-state` or `codex/sandbox-state-meta` under `capabilities.experimental` counts,
/// case-sensitive, whatever its value. Of a repeated member the last counts. A text that is no such object opts in
/// to nothing; no odd value anywhere is an error.
#[must_use]
pub fn advertises_sandbox_state(initialize_result: &str) -> bool {
    last_member(initialize_result, "capabilities")
        .and_then(|capabilities| last_member(capabilities, "experimental"))
        .and_then(|experimental| members::read(experimental).ok())
        .is_some_and(|entries| {
            entries.iter().any(|entry| {
                [SANDBOX_STATE_KEY, SANDBOX_STATE_META_KEY]
                    .iter()
                    .any(|key| key.as_bytes() == entry.name)
            })
        })
}

/// As [`advertises_sandbox_state`], of a result that has been parsed.
#[must_use]
pub fn advertises_sandbox_state_in_value(initialize_result: &Value) -> bool {
    initialize_result
        .get("capabilities")
        .and_then(|capabilities| capabilities.get("experimental"))
        .and_then(Value::as_object)
        .is_some_and(|entries| {
            entries.contains_key(SANDBOX_STATE_KEY) || entries.contains_key(SANDBOX_STATE_META_KEY)
        })
}

/// Opts a server in (S1): adds `codex/sandbox-state` to its `capabilities.experimental`.
///
/// ```
/// let mut experimental = serde_json::Map::new();
/// mcp_sandbox_meta::advertise_sandbox_state(&mut experimental);
/// let answer = serde_json::json!({ "capabilities": { "experimental": experimental } });
/// assert!(mcp_sandbox_meta::advertises_sandbox_state_in_value(&answer));
/// ```
pub fn advertise_sandbox_state(experimental: &mut Map<String, Value>) {
    experimental
        .entry(SANDBOX_STATE_KEY)
        .or_insert_with(|| Value::Object(Map::new()));
}

fn last_member<'a>(object: &'a str, name: &str) -> Option<&'a str> {
    members::read(object)
        .ok()?
        .into_iter()
        .rev()
        .find(|member| member.name == name.as_bytes())
        .map(|Member { value, .. }| value.get())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both forms, wherever the text parses into a value at all.
    #[track_caller]
    fn check(result: &str, advertised: bool, why: &str) {
        assert_eq!(
            advertises_sandbox_state(result),
            advertised,
            "{why}: {result}"
        );
        if let Ok(value) = serde_json::from_str(result) {
            assert_eq!(
                advertises_sandbox_state_in_value(&value),
                advertised,
                "{why}: {result}"
            );
        }
    }

    #[track_caller]
    fn check_experimental(experimental: &str, advertised: bool, why: &str) {
        check(
            &format!(
                r#"{{"protocolVersion":"2025-06-18","capabilities":{{"tools":{{}},"experimental":{experimental}}}}}"#
            ),
            advertised,
            why,
        );
    }

    /// S1
    #[test]
    fn the_presence_of_either_key_opts_in() {
        check_experimental(r#"{"codex/sandbox-state":{}}"#, true, "the key");
        check_experimental(
            r#"{"codex/sandbox-state-meta":{}}"#,
            true,
            "its deprecated alias",
        );
        check_experimental(
            r#"{"codex/sandbox-state":{},"codex/sandbox-state-meta":{}}"#,
            true,
            "both",
        );
        check_experimental(
            r#"{"codex\u002fsandbox-state":{}}"#,
            true,
            "the same name with an escape",
        );
        for odd in [
            "null",
            "true",
            "false",
            "\"x\"",
            "1e400",
            "[]",
            r#"{"enabled":false}"#,
        ] {
            check_experimental(
                &format!(r#"{{"codex/sandbox-state":{odd}}}"#),
                true,
                "contents are ignored",
            );
        }
    }

    /// S1
    #[test]
    fn nothing_else_opts_in() {
        check_experimental(
            r#"{"codex/sandbox-launcher":{}}"#,
            false,
            "the launcher's key alone",
        );
        check_experimental(r#"{"Codex/sandbox-state":{}}"#, false, "case-sensitive");
        check_experimental(r#"{"x":{"codex/sandbox-state":{}}}"#, false, "too deep");
        check_experimental("{}", false, "neither");
        for odd in [
            "null",
            "true",
            "\"codex/sandbox-state\"",
            "1",
            r#"["codex/sandbox-state"]"#,
        ] {
            check_experimental(odd, false, "no object");
        }
        let key = r#""codex/sandbox-state":{}"#;
        check(
            &format!(r#"{{"capabilities":{{"extensions":{{{key}}}}}}}"#),
            false,
            "under `extensions`",
        );
        check(
            &format!(r#"{{"capabilities":{{{key}}}}}"#),
            false,
            "beside `experimental`",
        );
        check(&format!("{{{key}}}"), false, "at the top");
        check(
            &format!(r#"{{"experimental":{{{key}}}}}"#),
            false,
            "outside `capabilities`",
        );
        for odd in ["", "null", "[]", "{", "{} {}", r#"{"capabilities":null}"#] {
            check(odd, false, "no result");
        }
    }

    #[test]
    fn of_a_repeated_member_the_last_counts() {
        let with = r#"{"experimental":{"codex/sandbox-state":{}}}"#;
        check(
            &format!(r#"{{"capabilities":{with},"capabilities":{{}}}}"#),
            false,
            "withdrawn",
        );
        check(
            &format!(r#"{{"capabilities":{{}},"capabilities":{with}}}"#),
            true,
            "given",
        );
    }
}
