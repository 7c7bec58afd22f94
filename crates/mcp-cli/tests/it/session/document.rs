//! What environments are for, in the words of those who asked for them: same-named servers, independent calls, resource
//! selection, plugins, and a feature that is off by default (K2, K7, K8, K9, P1). Approvals and hooks have files of their own.

use std::fs;
use std::path::Path;

use mcp_testkit::{Action, Handshake, Rule, Script, ServerProcess};
use serde_json::{Value, json};

use super::Session;
use crate::program::scripted;

/// A server that says in everything where it is.
fn serving(place: &str) -> (ServerProcess, Value) {
    let capabilities = json!({"tools": {}, "resources": {}});
    let script = Script::new().handshake(Handshake::new().capabilities(capabilities));
    let called = json!({"content": [{"type": "text", "text": place}]});
    let listed = json!({"resources": [{"uri": "mem://a", "name": place}]});
    let read = json!({"contents": [{"uri": "mem://a", "text": place}]});
    let script = script
        .tool_named("where")
        .rule(Rule::on_tool("where", [Action::Result(called)]))
        .rule(Rule::on("resources/list", [Action::Result(listed)]))
        .rule(Rule::on("resources/read", [Action::Result(read)]));
    scripted(&script)
}

/// A session with a server `docs` of the host's where `own`, and one in each of these environments, of which the first
/// `selected` are selected.
struct Scene {
    session: Session,
    processes: Vec<ServerProcess>,
}

impl Scene {
    #[track_caller]
    fn start(feature: Option<bool>, own: bool, environments: &[&str], selected: usize) -> Self {
        let mut processes = Vec::new();
        let mut docs = |place: &str| {
            let (process, entry) = serving(place);
            processes.push(process);
            json!({ "docs": entry })
        };
        let servers = if own { docs("host") } else { json!({}) };
        let environments: Vec<Value> = environments
            .iter()
            .enumerate()
            .map(|(at, id)| json!({"id": id, "selected": at < selected, "servers": docs(id)}))
            .collect();
        let mut start =
            json!({"id": "start", "op": "start", "servers": servers, "environments": environments});
        if let Some(feature) = feature {
            start["features"] = json!({ "multi_environment_mcp": feature });
        }
        let mut session = Session::open();
        let answer = session.ask(&start);
        assert_eq!(answer["ok"], true, "{answer}");
        Self { session, processes }
    }

    /// Asks for something of `docs`; the text that comes back, or what is wrong.
    #[track_caller]
    fn ask(&mut self, op: &str, environment: Option<&str>) -> Result<String, String> {
        let mut request =
            json!({"id": "x", "op": op, "server": "docs", "tool": "where", "uri": "mem://a"});
        if let Some(environment) = environment {
            request["environment_id"] = json!(environment);
        }
        let answer = self.session.ask(&request);
        if answer["ok"] != true {
            assert_eq!(answer["error"]["code"], "invalid_request", "{answer}");
            let message = answer["error"]["message"].as_str();
            return Err(message.expect("a message").to_owned());
        }
        let text = match op {
            "call" => &answer["result"]["content"][0]["text"],
            "resources" => &answer["resources"][0]["name"],
            _ => &answer["contents"][0]["text"],
        };
        Ok(text.as_str().expect("a text").to_owned())
    }

    /// Everything that can be asked for comes from the same place, or is refused for the same reason.
    #[track_caller]
    fn check(&mut self, environment: Option<&str>, expected: Result<&str, &str>, why: &str) {
        for op in ["call", "resources", "read_resource"] {
            let seen = self.ask(op, environment);
            match expected {
                Ok(place) => assert_eq!(seen, Ok(place.to_owned()), "{op}: {why}"),
                Err(says) => {
                    let error = seen.expect_err(why);
                    assert!(error.contains(says), "{op}: {why}: {error}");
                }
            }
        }
    }

    /// Ends; how many calls each server has had.
    #[track_caller]
    fn end(self) -> Vec<usize> {
        assert_eq!(self.session.end(), Some(0));
        let logs = self.processes.iter().map(ServerProcess::log);
        logs.map(|log| log.count_calls("where")).collect()
    }
}

/// K2, K7
#[test]
fn same_named_servers_across_environments_are_called_independently() {
    let mut scene = Scene::start(Some(true), true, &["local", "devbox"], 2);
    for place in ["local", "devbox", "devbox"] {
        assert_eq!(scene.ask("call", Some(place)), Ok(place.to_owned()));
    }
    assert_eq!(scene.ask("call", None), Ok("host".to_owned()));
    let tools = scene.session.ask(&json!({"id": "t", "op": "tools"}));
    let tools = tools["tools"].as_array().expect("tools").clone();
    assert_eq!(tools.len(), 3);
    for tool in tools {
        let by_name = json!({"id": "n", "op": "call", "name": tool["name"]});
        let answer = scene.session.ask(&by_name);
        let place = tool["environment_id"].as_str().unwrap_or("host");
        assert_eq!(answer["result"]["content"][0]["text"], place, "{answer}");
    }
    assert_eq!(scene.end(), [2, 2, 3]);
}

/// K7, P1
#[test]
fn resource_selection() {
    let mut one = Scene::start(Some(true), false, &["local", "off"], 1);
    one.check(None, Ok("local"), "omitted, and one is selected");
    one.check(Some("local"), Ok("local"), "named");
    one.check(Some("off"), Err("not selected"), "unselected");
    one.check(Some("moon"), Err("no such environment"), "unknown");
    one.end();
    let mut several = Scene::start(Some(true), false, &["local", "devbox", "off"], 2);
    several.check(
        None,
        Err("`environment_id` one of `local`, `devbox`"),
        "required",
    );
    several.check(Some("devbox"), Ok("devbox"), "named");
    several.check(Some("off"), Err("not selected"), "unselected");
    several.end();
    let mut beside = Scene::start(Some(true), true, &["local", "devbox"], 2);
    beside.check(
        None,
        Ok("host"),
        "the host's own beside those of environments",
    );
    beside.check(Some("local"), Ok("local"), "and theirs beside it");
    beside.end();
    let mut own = Scene::start(Some(true), true, &[], 0);
    own.check(
        Some("local"),
        Err("leave `environment_id` out"),
        "only the host has it",
    );
    own.end();
}

/// K8
#[test]
fn the_feature_is_off_by_default() {
    for feature in [None, Some(false)] {
        let mut scene = Scene::start(feature, false, &["local", "devbox"], 2);
        scene.check(None, Ok("local"), "the primary's, as if it were the host's");
        scene.check(Some("devbox"), Err("environment_id"), "there is no other");
        let tools = scene.session.ask(&json!({"id": "t", "op": "tools"}));
        let tool = &tools["tools"][0];
        assert_eq!(tool["name"], "mcp__docs__where", "{tool}");
        assert_eq!(tool.get("environment_id"), None, "{tool}");
        let hidden = scene.session.event("hidden");
        assert_eq!(hidden["environment_id"], "devbox", "{hidden}");
        assert_eq!(scene.end(), [1, 0]);
    }
    let mut scene = Scene::start(None, true, &["local"], 1);
    scene.check(None, Ok("host"), "the host's own wins");
    assert_eq!(scene.end(), [1, 0]);
}

/// K9
#[test]
fn the_same_plugin_in_two_environments_gives_two_servers() {
    let directory = tempfile::tempdir().expect("a directory");
    let (_process, entry) = serving("the plugin");
    let manifest = json!({"name": "docs-plugin", "mcpServers": {"docs": entry}});
    let install = |root: &Path| {
        fs::create_dir_all(root.join(".claude-plugin")).expect("a directory");
        let path = root.join(".claude-plugin/plugin.json");
        fs::write(path, manifest.to_string()).expect("a manifest");
        json!([root])
    };
    let roots = ["local", "devbox"].map(|place| install(&directory.path().join(place)));
    let mut session = Session::open();
    let start = json!({"id": "s", "op": "start", "features": {"multi_environment_mcp": true}, "environments": [
        {"id": "local", "plugin_roots": roots[0]}, {"id": "devbox", "plugin_roots": roots[1]},
    ]});
    let answer = session.ask(&start);
    let servers = answer["servers"].as_array().expect("servers").iter();
    let found: Vec<_> = servers
        .map(|server| {
            [
                &server["server"],
                &server["environment_id"],
                &server["plugin"],
                &server["status"],
            ]
        })
        .map(|members| members.map(|member| member.as_str().unwrap_or_default().to_owned()))
        .collect();
    let expected = ["devbox", "local"].map(|place| ["docs", place, "docs-plugin", "ready"]);
    assert_eq!(found, expected.map(|row| row.map(ToOwned::to_owned)));
    for place in ["local", "devbox"] {
        let call = json!({"id": "c", "op": "call", "server": "docs", "environment_id": place, "tool": "where"});
        assert_eq!(session.ask(&call)["outcome"], "ok");
    }
    assert_eq!(session.end(), Some(0));
}
