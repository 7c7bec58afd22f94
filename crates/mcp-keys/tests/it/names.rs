//! Which texts are names, through every door (K1, K9).

use std::borrow::Borrow;
use std::fmt::{Debug, Display};
use std::str::FromStr;

use mcp_keys::{EnvironmentId, InvalidName, ServerName, ToolName, installation_name};
use proptest::prelude::*;
use serde::de::value::{BorrowedStrDeserializer, Error, StrDeserializer, StringDeserializer};
use serde::de::{DeserializeOwned, IntoDeserializer};
use serde_json::json;

trait Name:
    FromStr<Err = InvalidName>
    + TryFrom<String, Error = InvalidName>
    + for<'a> TryFrom<&'a str, Error = InvalidName>
    + DeserializeOwned
    + serde::Serialize
    + Display
    + Debug
    + Borrow<str>
    + AsRef<str>
{
}
impl Name for ServerName {}
impl Name for EnvironmentId {}
impl Name for ToolName {}

/// Sends `text` through every constructor and every form of serde: all accept it unchanged, or all refuse.
#[track_caller]
fn check<N: Name>(text: &str, valid: bool, why: &str) {
    let owned: StringDeserializer<Error> = text.to_owned().into_deserializer();
    let passing: StrDeserializer<'_, Error> = text.into_deserializer();
    let doors = [
        text.parse::<N>().ok(),
        N::try_from(text).ok(),
        N::try_from(text.to_owned()).ok(),
        serde_json::from_value(json!(text)).ok(),
        serde_json::from_str(&json!(text).to_string()).ok(),
        serde_json::from_reader(json!(text).to_string().as_bytes()).ok(),
        N::deserialize(owned).ok(),
        N::deserialize(passing).ok(),
        N::deserialize(BorrowedStrDeserializer::<Error>::new(text)).ok(),
    ];
    for door in doors {
        assert_eq!(door.is_some(), valid, "{text:?}: {why}");
        if let Some(name) = door {
            assert_eq!(name.to_string(), text);
            assert_eq!((name.as_ref(), name.borrow()), (text, text));
            assert_eq!(serde_json::to_value(&name).unwrap(), json!(text));
        }
    }
}

/// K1
#[test]
fn names_take_anything_but_control_characters_and_outer_space() {
    for (text, valid, why) in [
        ("docs", true, "plain"),
        (
            "npm:@scope/pkg v1.2",
            true,
            "spaces, dots and slashes inside",
        ),
        ("сервер", true, "any script"),
        ("e\u{301}", true, "a combining mark"),
        (
            "\u{301}",
            true,
            "a combining mark with nothing to combine with",
        ),
        (
            "\u{feff}docs",
            true,
            "a byte order mark is neither control nor white space",
        ),
        ("do\u{200b}cs", true, "nor is a zero-width space"),
        ("do\u{202e}cs", true, "nor is a change of direction"),
        ("do\u{a0}cs", true, "a no-break space inside"),
        (
            "do\u{2028}cs",
            true,
            "a line separator inside is white space, not control",
        ),
        ("\u{2028}docs", false, "but not outside"),
        ("docs\u{a0}", false, "nor a no-break space"),
        ("\u{3000}docs", false, "nor an ideographic one"),
        ("", false, "empty"),
        (" ", false, "nothing but white space"),
        (" docs", false, "white space before"),
        ("docs\t", false, "white space behind"),
        ("do\ncs", false, "a C0 control"),
        ("do\0cs", false, "NUL, which separates what is hashed"),
        ("do\u{7f}cs", false, "delete"),
        ("do\u{85}cs", false, "next line, a C1 control"),
        (
            "do\u{9b}cs",
            false,
            "a C1 control that starts terminal sequences",
        ),
    ] {
        check::<ServerName>(text, valid, why);
        check::<EnvironmentId>(text, valid, why);
        check::<ToolName>(text, valid, why);
    }
}

/// K1
#[test]
fn lengths_are_counted_in_bytes() {
    // `é` has two bytes, so an odd limit would fall in the middle of one.
    for (bytes, servers, tools) in [(127, true, true), (128, true, true), (129, false, true)] {
        for text in [
            "a".repeat(bytes),
            format!("{}{}", "a".repeat(bytes % 2), "é".repeat(bytes / 2)),
        ] {
            check::<ServerName>(&text, servers, "the limit");
            check::<EnvironmentId>(&text, servers, "the limit");
            check::<ToolName>(&text, tools, "the limit");
        }
    }
    check::<ToolName>(&"é".repeat(128), true, "the limit");
    check::<ToolName>(&"é".repeat(129), false, "the limit");
    assert_eq!((ServerName::MAX_BYTES, ToolName::MAX_BYTES), (128, 256));
}

/// K1
#[test]
fn only_a_string_is_a_name() {
    for value in [json!(null), json!(7), json!(["docs"]), json!({"docs": 1})] {
        let error = serde_json::from_value::<ServerName>(value)
            .unwrap_err()
            .to_string();
        assert!(error.contains("a valid server name"), "{error}");
    }
}

/// K1
#[test]
fn the_error_says_which_name_and_why_and_is_safe_to_print() {
    let long = "\u{1b}".repeat(10_000);
    for (error, message) in [
        (
            ServerName::new("").unwrap_err(),
            "server name is empty: give it at least one character",
        ),
        (
            EnvironmentId::new("ci\u{85}").unwrap_err(),
            r#"environment id "ci\u{85}" starts or ends with white space: trim it"#,
        ),
        (
            ToolName::new("a\u{1b}[2J").unwrap_err(),
            r#"tool name "a\u{1b}[2J" has a control character at byte 1: remove it"#,
        ),
    ] {
        assert_eq!(error.to_string(), message);
    }
    let message = ToolName::new(long).unwrap_err().to_string();
    assert!(
        message.ends_with("... has 10000 bytes: shorten it to at most 256"),
        "{message}"
    );
    assert!(
        message.len() < 400 && !message.contains('\u{1b}'),
        "{message}"
    );
}

/// K9
#[test]
fn a_further_installation_is_named_behind_an_at_sign() {
    let docs = ServerName::new("docs").unwrap();
    assert_eq!(
        installation_name(&docs, "nightly").unwrap().as_str(),
        "docs@nightly"
    );
    assert_eq!(
        installation_name(&docs, &"i".repeat(123))
            .unwrap()
            .as_str()
            .len(),
        128
    );
    for (installation, why) in [
        ("", "is empty"),
        (" x", "white space"),
        ("a\nb", "control character"),
        (&"i".repeat(124), "shorten it to at most 128"),
    ] {
        let error = installation_name(&docs, installation)
            .unwrap_err()
            .to_string();
        assert!(error.contains(why), "{error}");
    }
}

proptest! {
    /// K1
    #[test]
    fn every_door_agrees_with_the_rule(text in "\\PC{0,3}|[ a\u{85}\u{a0}\0é]{0,6}|.{0,140}") {
        let valid = |max: usize| {
            (1..=max).contains(&text.len())
                && !text.chars().any(char::is_control)
                && text.trim() == text
        };
        check::<ServerName>(&text, valid(128), "the rule");
        check::<EnvironmentId>(&text, valid(128), "the rule");
        check::<ToolName>(&text, valid(256), "the rule");
    }
}
