//! Keys: what makes two of them one, their order, and their JSON (K2, K3).

use std::fmt::Debug;

use mcp_keys::{McpServerKey, ServerScope, ToolKey};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{name, server};

fn tool(of: &str, tool: &str) -> ToolKey {
    ToolKey::new(server(of), tool.parse().unwrap())
}

#[track_caller]
fn check_json<K: Serialize + DeserializeOwned + PartialEq + Debug>(key: &K, json: &str) {
    assert_eq!(serde_json::to_string(key).unwrap(), json);
    assert_eq!(&serde_json::from_str::<K>(json).unwrap(), key);
    let value = serde_json::to_value(key).unwrap();
    assert_eq!(&serde_json::from_value::<K>(value).unwrap(), key);
}

#[track_caller]
fn check_refused<K: DeserializeOwned + Debug>(json: &str, why: &str) {
    let error = serde_json::from_str::<K>(json).unwrap_err().to_string();
    assert!(error.contains(why), "{json}: {error}");
}

/// K2
#[test]
fn a_server_key_has_exactly_one_json_form() {
    check_json(&server("docs"), r#"{"server":"docs"}"#);
    check_json(
        &server("devbox/docs"),
        r#"{"server":"docs","environment_id":"devbox"}"#,
    );
    for (json, why) in [
        (r#"{}"#, "missing field `server`"),
        (
            r#"{"server":"docs","environment":"devbox"}"#,
            "unknown field `environment`",
        ),
        (
            r#"{"server":"docs","tool":"search"}"#,
            "unknown field `tool`",
        ),
        (
            r#"{"server":"docs","environment_id":null}"#,
            "environment id",
        ),
        (
            r#"{"server":"docs","server":"git"}"#,
            "duplicate field `server`",
        ),
        (
            r#"{"server":"docs","environment_id":"ci","environment_id":"devbox"}"#,
            "duplicate field `environment_id`",
        ),
        (r#"{"server":"docs "}"#, "white space"),
        (
            r#"{"server":"docs","environment_id":""}"#,
            "environment id is empty",
        ),
        (r#""docs""#, "invalid type"),
        (
            r#"["docs","devbox"]"#,
            "invalid type: sequence, expected an object",
        ),
    ] {
        check_refused::<McpServerKey>(json, why);
    }
}

/// K3
#[test]
fn a_tool_key_has_exactly_one_json_form() {
    check_json(
        &tool("docs", "search"),
        r#"{"server":"docs","tool":"search"}"#,
    );
    check_json(
        &tool("devbox/docs", "search"),
        r#"{"server":"docs","environment_id":"devbox","tool":"search"}"#,
    );
    for (json, why) in [
        (r#"{"server":"docs"}"#, "missing field `tool`"),
        (r#"{"tool":"search"}"#, "missing field `server`"),
        (
            r#"{"server":"docs","tool":"search","name":"x"}"#,
            "unknown field `name`",
        ),
        (
            r#"{"server":"docs","tool":"search","tool":"get"}"#,
            "duplicate field `tool`",
        ),
        (
            r#"{"server":"docs","tool":"search","environment_id":null}"#,
            "environment id",
        ),
        (
            r#"{"server":{"server":"docs"},"tool":"search"}"#,
            "server name",
        ),
        (
            r#"{"server":"docs","tool":"a\u0085b"}"#,
            "control character",
        ),
    ] {
        check_refused::<ToolKey>(json, why);
    }
}

/// K2
#[test]
fn namesakes_of_different_owners_are_different_servers() {
    let keys = ["docs", "ci/docs", "devbox/docs", "Docs"].map(server);
    for (at, key) in keys.iter().enumerate() {
        assert_eq!(keys.iter().position(|other| other == key), Some(at));
    }
}

/// K2
#[test]
fn the_hosts_sort_first_then_by_environment_then_by_name() {
    let sorted = ["a", "b", "ci/a", "ci/b", "devbox/a"].map(server);
    let mut shuffled = [3, 1, 4, 0, 2].map(|at: usize| sorted[at].clone());
    shuffled.sort();
    assert_eq!(shuffled, sorted);
    assert!(tool("docs", "z") < tool("ci/docs", "a"));
}

/// K2, K3
#[test]
fn keys_show_their_parts() {
    let key = tool("devbox/docs", "search");
    assert_eq!(key.to_string(), "docs (devbox)/search");
    assert_eq!(tool("docs", "search").to_string(), "docs/search");
    assert_eq!(key.tool().as_str(), "search");
    assert_eq!(key.server().name(), &name("docs"));
    assert_eq!(
        key.server().scope(),
        &ServerScope::Environment("devbox".parse().unwrap())
    );
    assert_eq!(
        key.server().environment().map(|id| id.as_str()),
        Some("devbox")
    );
    assert_eq!(
        (server("docs").scope(), server("docs").environment()),
        (&ServerScope::Host, None)
    );
}
