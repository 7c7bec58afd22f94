//! Environments behind a command, over JSON lines (R4, S4).

use mcp_testkit::{Handshake, Script};
use serde_json::{Value, json};

use super::{Session, check_invalid};
use crate::program::scripted;

/// S4: nor is the launcher named to a server that is somewhere else.
#[test]
fn an_environment_runs_its_servers_behind_its_executor() {
    let capabilities = json!({"tools": {}, "experimental": {"codex/sandbox-state": {}}});
    let handshake = Handshake::new().capabilities(capabilities);
    let script = Script::new().handshake(handshake).tool_named("t");
    let joins = r#"shift 2; export FAR_SIDE=box; exec sh -c "$*""#;
    for executor in [
        json!({"argv": ["env", "FAR_SIDE=box"], "quoting": "none"}),
        json!({"argv": ["sh", "-c", joins, "ssh", "box", "--"], "quoting": "posix_sh", "env_vars": ["HOME"]}),
    ] {
        let (process, mut entry) = scripted(&script);
        entry["env"] = json!({"LEVEL": "it's full"});
        entry["env_in_argv"] = json!(true);
        let box_ = json!({"id": "box", "executor": executor, "cwd": "/", "sandbox_state": 7,
            "launcher": "/bin/true", "servers": {"docs": entry}});
        let mut session = Session::open();
        let start = json!({"id": "s", "op": "start", "environments": [box_]});
        let started = session.ask(&start);
        assert_eq!(started["servers"][0]["status"], "ready", "{started}");
        let call = json!({"id": "c", "op": "call", "server": "docs", "tool": "t"});
        assert_eq!(session.ask(&call)["outcome"], "ok");
        assert_eq!(session.end(), Some(0));
        let found = process.log().events("start").remove(0);
        assert_eq!(found["env"]["FAR_SIDE"], "box", "{executor}");
        assert_eq!(found["env"]["LEVEL"], "it's full", "{executor}");
        assert_eq!(found["cwd"], "/", "{executor}");
        let mut calls = process.log().messages();
        calls.retain(|message| message["method"] == "tools/call");
        let meta = &calls[0]["params"]["_meta"];
        assert_eq!(meta["codex/sandbox-state"], 7);
        assert_eq!(meta["codex/sandbox-launcher"], Value::Null);
        assert_eq!(process.log().alive(), [0; 0]);
    }
}

/// R4
#[test]
fn a_variable_that_would_show_needs_a_word_in_the_entry() {
    let (process, mut entry) = scripted(&Script::new());
    entry["env_vars"] = json!(["HOME"]);
    let executor = json!({"argv": ["env"], "quoting": "none"});
    let environment = json!({"id": "box", "executor": executor, "servers": {"docs": entry}});
    let mut session = Session::open();
    let started = session.ask(&json!({"id": "s", "op": "start", "environments": [environment]}));
    let server = &started["servers"][0];
    assert_eq!(server["status"], "failed", "{started}");
    assert_eq!(server["error"]["code"], "startup_failed");
    let message = server["error"]["message"].as_str().expect("a message");
    assert!(message.contains(r#""env_in_argv": true"#), "{message}");
    session.end();
    assert_eq!(process.log().pids(), [0; 0]);
}

#[test]
fn what_is_no_executor_is_refused() {
    for (executor, says) in [
        (
            json!({"argv": [], "quoting": "none"}),
            "begins with a program",
        ),
        (json!({"argv": ["ssh", "box"]}), "missing field `quoting`"),
        (
            json!({"argv": ["ssh"], "quoting": "cmd"}),
            "`none` or `posix_sh`",
        ),
        (json!({"quoting": "none"}), "missing field `argv`"),
    ] {
        let environment = json!({"id": "box", "executor": executor});
        let mut session = Session::open();
        let start = json!({"id": "s", "op": "start", "environments": [environment]});
        check_invalid(&session.ask(&start), says);
        session.end();
    }
}
