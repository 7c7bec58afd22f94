//! Environments in a configuration file (K7, K8, R4).

use serde_json::{Value, json};

use crate::program::{Config, PROGRAM};

fn docs(place: &str) -> Value {
    json!({"command": PROGRAM, "args": ["demo-server", "--environment", place]})
}

fn config(feature: bool) -> Config {
    let file = json!({
        "features": {"multi_environment_mcp": feature},
        "mcpServers": {"own": docs("host")},
        "environments": [
            {"id": "local", "servers": {"docs": docs("local")}},
            {"id": "devbox", "servers": {"docs": docs("devbox"), "own": docs("devbox")}},
            {"id": "off", "selected": false, "servers": {"docs": docs("off")}},
        ],
    });
    Config::of_text(file.to_string())
}

const QUERY: [&str; 2] = ["--arguments", r#"{"query":"names"}"#];

/// K7: a call reaches the server that it names, and none but those that it could mean are started.
#[test]
fn a_call_reaches_the_server_of_its_environment() {
    let config = config(true);
    let rows: [(&[&str], i32, &str); 8] = [
        (
            &["docs/search", "--environment", "local"],
            0,
            "Found: names (local)\n",
        ),
        (
            &["docs/search", "--environment", "devbox"],
            0,
            "Found: names (devbox)\n",
        ),
        (
            &[
                "--server",
                "docs",
                "--tool",
                "search",
                "--environment",
                "devbox",
            ],
            0,
            "Found: names (devbox)\n",
        ),
        (&["own/search"], 0, "Found: names (host)\n"),
        (
            &["own/search", "--environment", "devbox"],
            0,
            "Found: names (devbox)\n",
        ),
        (&["mcp__own__search"], 0, "Found: names (host)\n"),
        (&["docs/search"], 2, "`environment_id`"),
        (&["docs/search", "--environment", "off"], 2, "not selected"),
    ];
    for (args, status, expected) in rows {
        let ran = config.run("call", &[args, &QUERY].concat()).with(status);
        match status {
            0 => assert_eq!(
                (ran.stdout.as_str(), ran.stderr.as_str()),
                (expected, ""),
                "{args:?}"
            ),
            _ => assert!(
                ran.stderr.contains(expected) && ran.stdout.is_empty(),
                "{args:?}: {ran:?}"
            ),
        }
    }
    let tools = config.run("tools", &["--json"]).with(0).json();
    let names = tools["tools"].as_array().expect("tools").iter();
    for tool in names.filter(|tool| tool["tool"] == "search") {
        let name = tool["name"].as_str().expect("a name");
        let ran = config
            .run("call", &[&[name], &QUERY[..]].concat())
            .quietly(0);
        let place = tool["environment_id"].as_str().unwrap_or("host");
        assert_eq!(ran.stdout, format!("Found: names ({place})\n"), "{name}");
        let args = [&[name, "--environment", "local"], &QUERY[..]].concat();
        config
            .run("call", &args)
            .with(2)
            .saying("leave --environment out");
    }
}

/// K8: off unless a file says otherwise.
#[test]
fn without_the_feature_the_primary_environment_is_exposed_as_the_hosts() {
    let config = config(false);
    let ran = config
        .run("call", &[&["docs/search"], &QUERY[..]].concat())
        .quietly(0);
    assert_eq!(ran.stdout, "Found: names (local)\n");
    let ran = config.run("tools", &[]).with(0);
    let heads: Vec<_> = ran
        .stdout
        .lines()
        .filter(|line| !line.starts_with(' '))
        .collect();
    let heads: Vec<_> = heads
        .iter()
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert_eq!(heads, ["docs", "own"]);
    ran.saying("is hidden: its environment is not the primary one");
}

/// U1
#[test]
fn what_is_wrong_with_an_environment_is_told_with_its_place() {
    let rows = [
        (
            "{\"environments\": [\n{\"servers\": {}}]}",
            ":2:",
            "missing field `id`",
        ),
        ("{\"environments\": 7}", ":1:18", "cannot be read"),
        (
            "{\"environments\": [{\"id\": \" \"}]}",
            "",
            "the id of an environment is not valid",
        ),
        (
            "{\"environments\": [{\"id\": \"a\", \"permissions\": {\"x\": 1}}]}",
            ":1:",
            "unknown field `x`",
        ),
        (
            "{\"environments\": [{\"id\": \"a\", \"servers\": {\n \"odd\": {\"command\": 7}}}]}",
            ":2:",
            "server `odd` is left out: `command` must be a string",
        ),
        (
            "{\"environments\": [{\"id\": \"a\"}]}",
            "",
            "no server is configured",
        ),
    ];
    for (text, place, says) in rows {
        let config = Config::of_text(text);
        let ran = config.run("tools", &[]).with(2);
        ran.saying(&format!("{}{place}", config.path().display()))
            .saying(says);
    }
}

/// K9, K7: a server of a plugin is called as any other, though the file does not name it.
#[test]
fn a_server_of_a_plugin_is_called_by_its_name() {
    let plugin = tempfile::tempdir().expect("a directory");
    let servers = json!({"mcpServers": {"docs": docs("plugin")}});
    std::fs::write(plugin.path().join(".mcp.json"), servers.to_string()).expect("a manifest");
    let file = json!({"environments": [{"id": "local", "plugin_roots": [plugin.path()]}]});
    let config = Config::of_text(file.to_string());
    for name in [
        &["docs/search"][..],
        &["mcp__docs__search"],
        &["--server", "docs", "--tool", "search"],
    ] {
        let ran = config.run("call", &[name, &QUERY[..]].concat()).quietly(0);
        assert_eq!(ran.stdout, "Found: names (plugin)\n", "{name:?}");
    }
    for (name, says) in [
        ("nope/search", "no such server"),
        ("docs/", "names no configured server"),
    ] {
        config.run("call", &[name]).with(2).saying(says);
    }
}
