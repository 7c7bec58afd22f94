//! What a child process gets from its host (R6).

use std::collections::BTreeSet;
use std::env;

use mcp_runtime::{Environment, ServerConfig, StdioTransport};
use mcp_testkit::{Script, ServerProcess};
use serde_json::Value;

use crate::host::{Host, SERVER, at_once, builder, transport};

/// Variables of this test's own process, set by cargo, that a server has no business with.
const SECRET: &str = "CARGO_MANIFEST_DIR";
const PASSED: &str = "CARGO_PKG_NAME";
/// By which a descendant is known.
const MARK: &str = "MCP_RUNTIME_TREE";

/// What the process said of itself when it started.
async fn started(process: &ServerProcess, transport: StdioTransport) -> Value {
    let host = Host::ready(ServerConfig::stdio(SERVER.parse().unwrap(), transport)).await;
    host.end().await;
    process.log().events("start").remove(0)
}

/// R6
#[tokio::test]
async fn a_child_gets_what_is_listed_and_what_is_configured() {
    let process = Script::new().command();
    let inherits = [
        "HOME", "LANG", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER",
    ];
    let transport = transport(&process)
        .env("API_TOKEN", "t0ken")
        .env("HOME", "/elsewhere")
        .env_var(PASSED)
        .env_var("NO_SUCH_VARIABLE_ANYWHERE");
    let start = started(&process, transport).await;
    let child = start["env"].as_object().unwrap();
    assert!(
        env::var_os(SECRET).is_some(),
        "cargo sets it for every test"
    );
    assert!(
        !child.contains_key(SECRET),
        "what is neither listed nor named stays here"
    );
    assert_eq!(child["PATH"], env::var("PATH").unwrap());
    assert_eq!(child["API_TOKEN"], "t0ken");
    assert_eq!(child["HOME"], "/elsewhere", "what is configured wins");
    assert_eq!(child[PASSED], env::var(PASSED).unwrap());
    assert!(!child.contains_key("NO_SUCH_VARIABLE_ANYWHERE"));
    let configured = ["API_TOKEN", PASSED];
    let mut other: BTreeSet<_> = child
        .keys()
        .map(String::as_str)
        .filter(|name| !inherits.contains(name) && !name.starts_with("LC_"))
        .filter(|name| !configured.contains(name))
        .collect();
    other.remove(MARK);
    assert_eq!(other, BTreeSet::new());
}

/// R6
#[tokio::test]
async fn a_child_runs_where_it_is_configured_to() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path().canonicalize().unwrap();
    let here = env::current_dir().unwrap();
    let process = Script::new().command();
    let start = started(&process, transport(&process).cwd(&directory)).await;
    assert_eq!(start["cwd"], directory.to_str().unwrap(), "its own");
    let process = Script::new().command();
    let start = started(&process, transport(&process)).await;
    assert_eq!(start["cwd"], here.to_str().unwrap(), "this process's");
}

/// R6
#[tokio::test]
async fn a_child_runs_where_its_environment_is() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path().canonicalize().unwrap();
    let own = directory.join("own");
    std::fs::create_dir(&own).unwrap();
    let (inner, outer) = (Script::new().command(), Script::new().command());
    let server = |name: &str, transport| ServerConfig::stdio(name.parse().unwrap(), transport);
    let environment = Environment::new("devbox".parse().unwrap())
        .cwd(&directory)
        .server(server("outer", transport(&outer)))
        .server(server("inner", transport(&inner).cwd(&own)));
    let host = Host::begin(builder().environment(environment));
    at_once(host.runtime.settled()).await;
    host.end().await;
    let cwd = |process: &ServerProcess| process.log().events("start")[0]["cwd"].clone();
    assert_eq!(
        cwd(&outer),
        directory.to_str().unwrap(),
        "the environment's"
    );
    assert_eq!(
        cwd(&inner),
        own.to_str().unwrap(),
        "its own before the environment's"
    );
}
