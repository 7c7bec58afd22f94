//! Plugins of environments, over JSON lines (K9).

use std::fs;
use std::path::{Path, PathBuf};

use mcp_testkit::{Action, Rule, Script, ServerProcess};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::Session;
use crate::program::scripted;

/// Installs a plugin `p` whose server `docs` says where it is.
fn install(root: &Path, says: &str) -> ServerProcess {
    let answer = json!({"content": [{"type": "text", "text": says}]});
    let script = Script::new().tool_named("where");
    let (process, entry) = scripted(&script.rule(Rule::on_tool("where", [Action::Result(answer)])));
    let manifest = json!({"name": "p", "mcpServers": {"docs": entry}});
    fs::create_dir_all(root.join(".codex-plugin")).expect("a directory");
    fs::write(root.join(".codex-plugin/plugin.json"), manifest.to_string()).expect("a file");
    process
}

/// What is called, by its server and environment, and what it says.
#[track_caller]
fn check(session: &mut Session, server: &str, environment: &str, says: &str) {
    let call = json!({"id": "c", "op": "call", "server": server, "environment_id": environment, "tool": "where"});
    let answer = session.ask(&call);
    assert_eq!(answer["result"]["content"][0]["text"], says, "{answer}");
}

#[test]
fn plugins_give_servers_and_say_what_is_wrong_with_them() {
    let home = TempDir::new().expect("a directory");
    let root = |name: &str| -> PathBuf { home.path().join(name) };
    let _processes = [
        install(&root("a/p"), "a"),
        install(&root("b/p"), "b"),
        install(&root("b/nightly"), "nightly of b"),
    ];
    fs::create_dir(root("broken")).expect("a directory");
    fs::write(root("broken/.mcp.json"), "{\n oops}").expect("a file");
    let mut session = Session::open();
    let started = session.ask(&json!({"id": "s", "op": "start", "features": {"multi_environment_mcp": true}, "environments": [
        {"id": "a", "plugin_roots": [root("a/p"), root("broken")]},
        {"id": "b", "plugin_roots": [root("b/p"), root("b/nightly")]},
    ]}));
    let servers = started["servers"].as_array().expect("servers");
    let server = |server: &Value| {
        assert_eq!(
            (&server["status"], &server["plugin"]),
            (&json!("ready"), &json!("p")),
            "{server}"
        );
        format!("{} in {}", server["server"], server["environment_id"])
    };
    let servers: Vec<_> = servers.iter().map(server).collect();
    assert_eq!(
        servers,
        [
            r#""docs" in "a""#,
            r#""docs" in "b""#,
            r#""docs@nightly" in "b""#
        ]
    );
    let [error] = started["plugin_errors"]
        .as_array()
        .expect("errors")
        .as_slice()
    else {
        panic!("{started}");
    };
    assert_eq!(error["environment_id"], "a");
    assert_eq!(error["file"], json!(root("broken/.mcp.json")));
    assert_eq!((&error["line"], &error["column"]), (&json!(2), &json!(2)));
    let event = session.wait(|line| line["event"] == "plugin_error");
    assert_eq!(
        (&event["environment_id"], &event["message"]),
        (&json!("a"), &error["message"])
    );
    check(&mut session, "docs", "a", "a");
    check(&mut session, "docs", "b", "b");
    check(&mut session, "docs@nightly", "b", "nightly of b");
    assert_eq!(session.end(), Some(0));
}
