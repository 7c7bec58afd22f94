//! What was started under one authority is not used under another.

use mcp_sandbox_meta::{CapturedAuthority, Change, SandboxMetadata};

use super::metadata;

const LAUNCHER: Option<&str> = Some("/opt/codex");

#[track_caller]
fn check(
    captured: Option<&SandboxMetadata>,
    later: Option<&SandboxMetadata>,
    expected: (Option<Change>, Option<Change>),
    message: &str,
) {
    let captured = CapturedAuthority::capture(captured);
    match captured.check(later) {
        Ok(()) => assert_eq!(expected, (None, None), "{message}"),
        Err(changed) => {
            assert_eq!((changed.state(), changed.launcher()), expected, "{message}");
            assert_eq!(
                changed.to_string(),
                format!("the authority changed: {message}")
            );
        }
    }
}

/// S7
#[test]
fn the_same_authority_is_accepted_however_it_is_spelled() {
    let captured = metadata(r#"{"a":"é","b":[1]}"#, LAUNCHER);
    for later in [r#"{"a":"é","b":[1]}"#, r#"{ "b":[ 1 ], "a":"\u00e9" }"#] {
        check(
            Some(&captured),
            Some(&metadata(later, LAUNCHER)),
            (None, None),
            "",
        );
    }
    check(None, None, (None, None), "");
}

/// S7
#[test]
fn every_change_is_refused_and_named() {
    use Change::{Appeared, Replaced, Vanished};

    let bare = metadata("{}", None);
    let whole = metadata("{}", LAUNCHER);
    let moved = metadata("{}", Some("/opt/codex2"));
    let other = metadata(r#"{"later":1}"#, LAUNCHER);
    let both = metadata(r#"{"later":1}"#, Some("/opt/codex2"));
    for (captured, later, expected, message) in [
        (
            Some(&whole),
            Some(&other),
            (Some(Replaced), None),
            "another sandbox state",
        ),
        (
            Some(&bare),
            Some(&whole),
            (None, Some(Appeared)),
            "a launcher",
        ),
        (
            Some(&whole),
            Some(&bare),
            (None, Some(Vanished)),
            "no more launcher",
        ),
        (
            Some(&whole),
            Some(&moved),
            (None, Some(Replaced)),
            "another launcher",
        ),
        (
            Some(&whole),
            Some(&both),
            (Some(Replaced), Some(Replaced)),
            "another sandbox state, another launcher",
        ),
        (
            Some(&bare),
            None,
            (Some(Vanished), None),
            "no more sandbox state",
        ),
        (
            None,
            Some(&whole),
            (Some(Appeared), Some(Appeared)),
            "a sandbox state, a launcher",
        ),
    ] {
        check(captured, later, expected, message);
    }
}

/// S7
#[test]
fn a_number_spelled_differently_is_a_change() {
    check(
        Some(&metadata("[9007199254740993]", None)),
        Some(&metadata("[9007199254740992]", None)),
        (Some(Change::Replaced), None),
        "another sandbox state",
    );
}

#[test]
fn neither_debug_nor_error_shows_the_state() {
    let captured = CapturedAuthority::capture(Some(&metadata("\"secret\"", LAUNCHER)));
    let changed = captured
        .check(Some(&metadata("\"secret2\"", None)))
        .unwrap_err();
    for shown in [format!("{captured:?}"), format!("{changed} {changed:?}")] {
        assert!(!shown.contains("secret"), "{shown}");
    }
}
