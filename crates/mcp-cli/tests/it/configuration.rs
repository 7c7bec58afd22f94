//! Mistakes in a configuration file: what, where, and what to do (U1).

use std::fs;

use crate::program::{Config, run};

/// `tools` refuses the text, naming the place and saying something.
#[track_caller]
fn check(text: impl AsRef<[u8]>, place: &str, says: &str) {
    let config = Config::of_text(text);
    let ran = config.run("tools", &[]).with(2);
    assert_eq!(ran.stdout, "", "{ran:?}");
    ran.saying(&format!("{}{place}", config.path().display()))
        .saying(says);
}

#[test]
fn a_mistake_is_told_with_its_place() {
    check(
        "{\n  \"mcpServers\": {,}\n}",
        ":2:18",
        "not valid JSON: key must be a string",
    );
    check("", ":1:1", "not valid JSON: EOF");
    check("{}x", ":1:3", "trailing characters");
    check(
        "7",
        ":1:1",
        "expected an object with the member `mcpServers`",
    );
    check(
        "{}",
        ":1:1: ",
        "expected an object with the member `mcpServers`",
    );
    check(
        "{\n \"mcpServers\": 7}",
        ":2:16",
        "expected an object whose members are servers",
    );
    check(
        "{\"mcpServers\": {}}",
        ": ",
        "no server is configured; add one",
    );
    check(b"{\"a\": \"b\n\xff\"}".as_slice(), ":2:1", "not UTF-8");
}

#[test]
fn a_wrong_entry_is_told_with_its_place() {
    let entry = |entry: &str| format!("{{\"mcpServers\": {{\n  \"odd\": {entry}}}}}");
    for (text, place, says) in [
        ("{\"command\": 7}", ":2:22", "`command` must be a string"),
        (
            "{\n  \"command\": 7}",
            ":3:14",
            "`command` must be a string",
        ), // on a line of its own
        ("{}", ":2:10", "expected either `command`"),
        (
            "{\"command\": \"x\", \"url\": \"http://a\"}",
            ":2:10",
            "expected either `command`",
        ),
        ("{\"url\": \"nowhere\"}", ":2:18", "not a URL"),
        (
            "{\"command\": \"x\", \"tool_timeout_sec\": -1}",
            ":2:47",
            "positive number of seconds",
        ),
    ] {
        check(
            entry(text),
            "",
            &format!("{place}: server `odd` is left out: "),
        );
        check(entry(text), "", says);
    }
}

#[test]
fn a_byte_order_mark_is_no_mistake() {
    check(
        "\u{feff}{\"mcpServers\": {}}",
        ": ",
        "no server is configured",
    );
}

#[test]
fn what_is_no_file_is_refused() {
    let config = Config::of_text("");
    let directory = config.path().parent().expect("a directory").to_owned();
    let nowhere = directory.join("nowhere.json");
    for (path, says) in [
        (&directory, "this is a directory"),
        (&nowhere, "there is no such file"),
    ] {
        let path = path.to_str().expect("UTF-8");
        run(["tools", "--config", path])
            .with(2)
            .saying(path)
            .saying(says);
    }
}

#[test]
fn members_that_nobody_knows_are_told_and_cost_nothing() {
    let config =
        Config::of_text(r#"{"mcpServers": {"a": {"command": "x", "enabled": false, "icon": 1}}}"#);
    let ran = config.run("tools", &[]).with(0);
    assert_eq!(ran.stdout, "a  disabled\n");
    ran.saying("not known here and ignored: a.icon");
}

#[test]
fn the_servers_member_of_editors_is_read() {
    let config = Config::of_text(r#"{"servers": {"a": {"command": "x", "enabled": false}}}"#);
    assert_eq!(config.run("tools", &[]).quietly(0).stdout, "a  disabled\n");
    fs::remove_file(config.path()).expect("it was there");
    config.run("tools", &[]).with(2);
}
