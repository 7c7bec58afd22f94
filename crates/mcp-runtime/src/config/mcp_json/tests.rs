//! Configurations as people write them, right and wrong.

use std::error::Error;

use super::*;
use crate::call::ApprovalMode;

/// The servers' names, or the message of what is wrong with the whole or with one entry.
fn read(text: &str) -> String {
    let read = match McpServers::from_json(text) {
        Ok(read) => read,
        Err(error) => return chain(&error),
    };
    let names = read
        .servers()
        .iter()
        .map(|server| server.name().to_string());
    names
        .chain(read.rejected().iter().map(|error| chain(error)))
        .collect::<Vec<_>>()
        .join("; ")
}

fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        text = format!("{text}: {error}");
        source = error.source();
    }
    text
}

#[track_caller]
fn check(entries: &str, expected: &str) {
    let shown = read(&format!("{{\"mcpServers\": {entries}}}"));
    assert!(
        shown.contains(expected),
        "{entries}\n gives {shown}\n  wanted {expected}"
    );
}

/// U1
#[test]
fn entries_of_the_usual_hosts_are_understood() {
    check(
        r#"{"docs": {"command": "x", "args": ["a"], "env": {"A": "b"}, "cwd": "/"}}"#,
        "docs",
    );
    check(
        r#"{"docs": {"type": "http", "url": "https://example.com/mcp", "headers": {"X-Key": "v"}}}"#,
        "docs",
    );
    check(
        r#"{"my docs/v2": {"command": "x", "startup_timeout_sec": 0.5, "tool_timeout_sec": 120}}"#,
        "my docs/v2",
    );
    assert_eq!(
        read(r#"{"servers": {"docs": {"command": "x"}}, "inputs": []}"#),
        "docs"
    );
    assert_eq!(read("\u{feff}{\"mcpServers\": {}}"), "");
}

/// U1: one wrong entry costs nobody else anything.
#[test]
fn a_wrong_entry_is_named_and_the_others_stay() {
    check(
        r#"{"bad": {"command": 7}, "good": {"command": "x"}}"#,
        "good; server `bad` is not configured correctly: `command` must be a string",
    );
    check(
        r#"{"x": {}}"#,
        "expected either `command` (a local server) or `url` (a remote one)",
    );
    check(
        r#"{"x": {"command": "a", "url": "http://b"}}"#,
        "expected either `command`",
    );
    check(
        r#"{"x": {"command": "a", "headers": {"A": "b"}}}"#,
        "`headers` does not go with `command`",
    );
    check(
        r#"{"x": {"url": "http://b", "cwd": "/"}}"#,
        "`cwd` does not go with `url`",
    );
    check(r#"{"x": {"url": "example.com/mcp"}}"#, "`url` is not a URL");
    check(
        r#"{"x": {"url": "ftp://example.com"}}"#,
        "must begin with `http://` or `https://`, not `ftp:`",
    );
    check(
        r#"{"x": {"url": "http://b", "headers": {"a b": "c"}}}"#,
        "header `a b` cannot be sent",
    );
    check(
        r#"{"x": {"command": "a", "startup_timeout_sec": 0}}"#,
        "`startup_timeout_sec` must be a positive number of seconds",
    );
    check(
        r#"{"x": {"command": "a", "interaction_timeout_sec": 0}}"#,
        "`interaction_timeout_sec` must be a positive number of seconds",
    );
    check(
        r#"{"x": {"command": "a", "reset_on_progress": "yes"}}"#,
        "`reset_on_progress` must be `true` or `false`",
    );
    check(
        r#"{"x": {"command": "a", "max_total_timeout_sec": "1 h"}}"#,
        "`max_total_timeout_sec` must be a positive number of seconds",
    );
    check(
        r#"{"x": {"command": "a", "tool_timeout_sec": -1}}"#,
        "`tool_timeout_sec` must be a positive number of seconds",
    );
    check(r#"{" x": {"command": "a"}}"#, "the name is not valid");
    check(
        r#"{"x": {"command": "a", "approval": "ask"}}"#,
        "`approval` must be `auto`, `prompt`, `approve` or `deny`",
    );
    check(
        r#"{"x": {"command": "a", "tool_approval": {"t": null}}}"#,
        "`tool_approval` must be an object whose values are `auto`",
    );
    check(
        r#"{"x": {"command": "a", "tool_approval": {"t": "deny", "t": "approve"}}}"#,
        "`t` stands twice",
    );
    check(
        r#"{"x": {"command": "a", "includeTools": []}}"#,
        "`includeTools` is not supported yet",
    );
    check(
        r#"{"x": {"command": "a", "era": "future"}}"#,
        "`era` must be `auto`, `legacy` or `modern`",
    );
}

/// B3, B4
#[test]
fn times_are_those_of_the_entry_or_the_defaults() {
    let times = |members: &str| {
        let text = format!(r#"{{"mcpServers": {{"x": {{"command": "a"{members}}}}}}}"#);
        let read = McpServers::from_json(&text).unwrap();
        let server = &read.servers()[0];
        assert_eq!(read.unknown_members(), [""; 0]);
        let call = server.call_budget();
        (
            call.timeout.as_secs_f64(),
            call.total.map(|total| total.as_secs_f64()),
            server.interaction_patience().as_secs_f64(),
        )
    };
    assert_eq!(times(""), (60.0, None, 600.0));
    let total = r#", "max_total_timeout_sec": 90"#;
    assert_eq!(times(total), (60.0, None, 600.0));
    let all =
        r#", "tool_timeout_sec": 2.5, "interaction_timeout_sec": 0.5, "reset_on_progress": true"#;
    assert_eq!(times(all), (2.5, Some(3_600.0), 0.5));
    assert_eq!(times(&format!("{all}{total}")), (2.5, Some(90.0), 0.5));
}

/// A1
#[test]
fn a_tools_mode_of_approval_is_its_own_or_the_servers() {
    let mode = |members: &str, tool: &str| {
        let text = format!(r#"{{"mcpServers": {{"x": {{"command": "a"{members}}}}}}}"#);
        let read = McpServers::from_json(&text).unwrap();
        assert_eq!(read.unknown_members(), [""; 0]);
        read.servers()[0].approval_mode(&tool.parse().unwrap())
    };
    let (server, tool) = (
        r#", "approval": "auto""#,
        r#", "tool_approval": {"t": "deny", "u": "approve", "v": "prompt"}"#,
    );
    let both = format!("{server}{tool}");
    for (members, name, expected) in [
        ("", "t", None),
        (server, "t", Some(ApprovalMode::Auto)),
        (tool, "t", Some(ApprovalMode::Deny)),
        (tool, "w", None),
        (&both, "u", Some(ApprovalMode::Approve)),
        (&both, "v", Some(ApprovalMode::Prompt)),
        (&both, "w", Some(ApprovalMode::Auto)),
        (r#", "approval": null, "tool_approval": null"#, "t", None),
    ] {
        assert_eq!(mode(members, name), expected, "{members} {name}");
    }
}

/// U1
#[test]
fn a_file_that_is_no_configuration_says_what_was_expected() {
    assert!(read("").contains("invalid JSON"), "{}", read(""));
    assert!(read("[]").contains("expected an object with the member `mcpServers`"));
    assert!(
        read(r#"{"mcp_servers": {}}"#).contains("expected an object with the member `mcpServers`")
    );
}

#[test]
fn members_nobody_knows_are_told() {
    let read = McpServers::from_json(
        r#"{"mcpServers": {"docs": {"command": "x", "comand": "y", "alwaysAllow": []}}}"#,
    )
    .unwrap();
    assert_eq!(read.unknown_members(), ["docs.alwaysAllow", "docs.comand"]);
}

/// The value of a member of the wrong kind may be a secret.
#[test]
fn a_wrong_value_is_described_and_not_shown() {
    for entry in [
        r#"{"x": {"command": "a", "env": "TOKEN=hunter2"}}"#,
        r#"{"x": {"command": "a", "env": {"TOKEN": ["hunter2"]}}}"#,
        r#"{"x": {"command": ["hunter2"]}}"#,
        r#"{"x": {"url": "http://b", "headers": {"Authorization": "hunter2\n"}}}"#,
        r#"{"x": {"url": "http://b", "headers": "hunter2"}}"#,
        r#"{"x": "hunter2"}"#,
        r#""hunter2""#,
        r#"["hunter2"]"#,
    ] {
        let shown = read(&format!("{{\"mcpServers\": {entry}}}"));
        assert!(
            !shown.is_empty() && !shown.contains("hunter2"),
            "{entry} gives {shown}"
        );
    }
}

/// Members that keep a server or a tool from running are honoured, or refused by name.
#[test]
fn what_restricts_is_never_ignored() {
    let read =
        McpServers::from_json(r#"{"mcpServers": {"x": {"command": "a", "disabled": true}}}"#)
            .unwrap();
    assert!(!read.servers()[0].is_enabled());
    check(
        r#"{"x": {"command": "a", "excludeTools": ["rm"]}}"#,
        "`excludeTools` is not supported yet",
    );
}

/// U1
#[test]
fn a_member_that_stands_twice_is_a_mistake() {
    check(
        r#"{"x": {"command": "a", "command": "b"}}"#,
        "`command` stands twice",
    );
    check(
        r#"{"x": {"command": " "}}"#,
        "`command` must be the name or path of a program",
    );
}

/// U1: neither of two servers disappears in silence.
#[test]
fn a_second_server_of_the_same_name_is_rejected() {
    check(
        r#"{"x": {"command": "a"}, "y": {"command": "b"}, "x": {"command": "c"}}"#,
        "x; y; server `x` is not configured correctly: another server before it has the same name",
    );
}

/// U1
#[test]
fn a_mistake_knows_its_place() {
    let at = |text: &str| match McpServers::from_json(text) {
        Ok(read) => read.rejected()[0].place(),
        Err(error) => error.place(),
    };
    for (text, place, why) in [
        (
            "{\n \"mcpServers\": {,}}",
            ":2:17",
            "where it stops being JSON",
        ),
        (
            "{\n \"mcpServers\": 7}",
            ":2:16",
            "what is no object of servers",
        ),
        ("\n{}", ":1:1", "the whole"),
        ("{\"mcpServers\": {\n \"a\": {}}}", ":2:7", "an entry"),
        (
            "{\"mcpServers\": {\"a\": {\"command\": \"x\",\n\"args\": 7}}}",
            ":2:9",
            "a member",
        ),
        (
            "{\"mcpServers\": {\"a\": {\"command\": \"x\"},\n\"a\": {\"command\": \"x\"}}}",
            ":2:6",
            "the second of two",
        ),
    ] {
        let found = at(text).map(|found| found.to_string());
        assert_eq!(found.as_deref(), Some(place), "{why}");
    }
    let required = r#"{"mcpServers": {"a": {"required": true}, "b": {}}}"#;
    let read = McpServers::from_json(required).unwrap();
    let required: Vec<_> = read
        .rejected()
        .iter()
        .map(ConfigError::is_required)
        .collect();
    assert_eq!(required, [true, false]);
}
