//! `mcp-runtime call`

use std::fs;

use mcp_testkit::{Action, Rule, Script};
use serde_json::{Value, json};

use crate::program::{Config, docs, missing, run_with_stdin, scripted};

const QUERY: &str = r#"{"query":"names"}"#;

fn only_docs() -> Config {
    Config::of_servers(&json!({"docs": docs(), "gone": missing()}))
}

#[test]
fn every_way_to_name_a_tool_leads_to_it() {
    let config = only_docs();
    for name in [
        &["mcp__docs__search"][..],
        &["docs/search"],
        &["--server", "docs", "--tool", "search"],
    ] {
        let args = [name, &["--arguments", QUERY]].concat();
        // The server that cannot be started is not needed, and not started.
        let ran = config.run("call", &args).quietly(0);
        assert_eq!(ran.stdout, "Found: names (here)\n", "{name:?}");
    }
}

#[test]
fn arguments_come_from_the_command_line_a_file_or_stdin() {
    let config = only_docs();
    let file = config.path().with_file_name("arguments.json");
    fs::write(&file, "{\n  \"query\": \"names\"\n}\n").expect("a file");
    let at_file = format!("@{}", file.display());
    for (source, stdin) in [(QUERY, ""), (at_file.as_str(), ""), ("-", QUERY)] {
        let args = config.command_line("call", &["docs/search", "--arguments", source]);
        let ran = run_with_stdin(args, stdin).quietly(0);
        assert_eq!(ran.stdout, "Found: names (here)\n", "{source}");
    }
}

#[test]
fn what_cannot_be_called_is_refused_with_what_to_do() {
    let off = json!({"command": "x", "enabled": false});
    let servers = json!({"docs": docs(), "gone": missing(), "off": off, "odd": {"command": 7}});
    let config = Config::of_servers(&servers);
    let rows: [(&[&str], i32, &str); 17] = [
        (&["docs/nope"], 2, "server `docs` offers no such tool"),
        (
            &["mcp__docs__nope"],
            2,
            "`mcp-runtime tools` lists the tools",
        ),
        (
            &["mcp__nope__x"],
            2,
            "`mcp__docs__`, `mcp__gone__` and `mcp__off__`",
        ),
        (&["search"], 2, "model-visible names here begin with"),
        (&["nope/x"], 2, "there is `docs`, `gone` and `off`"),
        (&["--server", "nope", "--tool", "x"], 2, "there is `docs`"),
        (&["odd/x"], 2, "`command` must be a string"),
        (&["mcp__odd__x"], 2, "`command` must be a string"),
        (
            &["--server", "odd", "--tool", "x"],
            2,
            "`command` must be a string",
        ),
        (&["off/x"], 2, "remove `enabled` there"),
        (&["gone/x"], 3, "install it, or give its full path"),
        (&["mcp__gone__x"], 3, "install it, or give its full path"),
        (&["docs/read", "--arguments", "{"], 2, "at line 1 column 1"),
        (
            &["docs/read", "--arguments", "[1]"],
            2,
            "must be a JSON object",
        ),
        (
            &["docs/read", "--arguments", "@/nowhere/at/all"],
            2,
            "/nowhere/at/all cannot be read",
        ),
        (
            &[
                "--server",
                "docs",
                "--environment",
                "devbox",
                "--tool",
                "read",
            ],
            2,
            "leave `environment_id` out",
        ),
        (&[], 2, "<NAME>"),
    ];
    for (args, status, text) in rows {
        let ran = config.run("call", args).with(status).saying(text);
        assert_eq!(ran.stdout, "", "{args:?}");
    }
}

#[test]
fn a_tool_that_reports_an_error_is_heard_and_fails_the_command() {
    let args = ["docs/read", "--arguments", r#"{"page":"x"}"#];
    let ran = only_docs()
        .run("call", &args)
        .with(1)
        .saying("code `no_such_page`");
    assert!(ran.stdout.starts_with("There is no page `x`"), "{ran:?}");
}

/// B3
#[test]
fn a_call_that_takes_too_long_ends_at_its_time_limit() {
    let ran = only_docs()
        .run("call", &["docs/reindex", "--timeout", "0.2"])
        .with(4);
    assert_eq!(ran.stdout, "");
    ran.saying("timed out after 0.2 s")
        .saying("more time with --timeout");
}

/// The command line knows better than the configuration, in both directions.
#[test]
fn the_time_limit_of_the_command_line_replaces_the_configured_one() {
    let answer = Action::Result(json!({"content": [{"type": "text", "text": "late"}]}));
    let slow = Rule::on_tool("slow", [Action::DelayMs(300), answer]);
    let (_process, mut entry) = scripted(&Script::new().tool_named("slow").rule(slow));
    entry["tool_timeout_sec"] = json!(0.05);
    let config = Config::of_servers(&json!({"s": entry}));
    config.run("call", &["s/slow"]).with(4);
    let ran = config
        .run("call", &["s/slow", "--timeout", "20"])
        .quietly(0);
    assert_eq!(ran.stdout, "late\n");
}

/// B5, W1
#[test]
fn json_is_the_result_as_the_server_sent_it() {
    let result =
        r#"{"zeta":1e2,"content":[{"type":"x-new","n":123456789012345678901}],"_meta":{"a":null}}"#;
    let ran = call_answering(result, &["--json"]).quietly(0);
    assert_eq!(ran.stdout, format!("{result}\n"));
}

#[test]
fn text_is_shown_as_text_and_the_rest_as_notes() {
    let result = r#"{"content":[{"type":"text","text":"a\nb"},{"type":"image","mimeType":"image/png","data":"aGVsbG8="}]}"#;
    let ran = call_answering(result, &[]).quietly(0);
    assert_eq!(ran.stdout, "a\nb\n[image image/png, 5 bytes]\n");
    let ran = call_answering(r#"{"content":[],"structuredContent":{"n":1e2}}"#, &[]).quietly(0);
    assert_eq!(ran.stdout, "{\"n\":1e2}\n");
}

fn call_answering(result: &str, args: &[&str]) -> crate::program::Ran {
    let rule = Rule::on_tool("t", [Action::ResultRaw(result.to_owned())]);
    let (_process, entry) = scripted(&Script::new().tool_named("t").rule(rule));
    let config = Config::of_servers(&json!({"s": entry}));
    config.run("call", &[&["s/t"], args].concat())
}

/// W1
#[test]
fn arguments_reach_the_server_as_they_were_written() {
    let (process, entry) = scripted(&Script::new().tool_named("t"));
    let config = Config::of_servers(&json!({"s": entry}));
    let arguments = r#"{"b": 1e2, "a": 12345678901234567890}"#;
    config
        .run("call", &["s/t", "--arguments", arguments])
        .quietly(0);
    let calls: Vec<Value> = process
        .log()
        .messages()
        .into_iter()
        .filter(|message| message["method"] == "tools/call")
        .collect();
    assert_eq!(calls.len(), 1);
    let expected: Value = serde_json::from_str(arguments).expect("JSON");
    assert_eq!(calls[0]["params"]["arguments"], expected);
}

#[test]
fn a_server_that_dies_in_a_call_is_told_with_its_last_words() {
    let dies = Rule::on_tool(
        "t",
        [Action::Stderr("out of memory".into()), Action::Exit(101)],
    );
    let (_process, entry) = scripted(&Script::new().tool_named("t").rule(dies));
    let config = Config::of_servers(&json!({"s": entry}));
    let ran = config.run("call", &["s/t"]).with(3);
    ran.saying("exited with status 101")
        .saying("\n    out of memory\n");
}

/// A1: whoever typed the call approves it, and what the configuration denies stays denied.
#[test]
fn a_call_that_was_typed_needs_no_further_approval() {
    for (mode, status) in [("prompt", 0), ("auto", 0), ("approve", 0), ("deny", 2)] {
        let (process, mut entry) = scripted(&Script::new().tool_named("t"));
        entry["approval"] = json!(mode);
        let ran = Config::of_servers(&json!({"s": entry})).run("call", &["s/t"]);
        let ran = ran.with(status);
        assert_eq!(
            process.log().count_calls("t"),
            usize::from(status == 0),
            "{mode}"
        );
        if mode == "deny" {
            ran.saying("the configuration denies the tool");
        }
    }
}
