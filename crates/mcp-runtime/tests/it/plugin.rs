//! Servers that come with plugins, from manifest to call (K8, K9).

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use mcp_runtime::{
    CallOptions, CommandExecutor, Environment, McpServerKey, MultiEnvironment, PluginErrorKind,
    Quoting, RuntimeEvent, ServerState,
};
use mcp_testkit::{Action, Script, ServerProcess};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::host::{Host, at_once, builder, with_tool};

/// A plugin `docs-plugin` with one server `docs`, whose tool `where` says which plugin it is of.
#[derive(Debug)]
struct Plugin {
    home: TempDir,
    process: ServerProcess,
}

impl Plugin {
    fn saying(text: &str) -> Self {
        let answer = json!({"content": [{"type": "text", "text": text}]});
        let script = with_tool(Script::new(), "where", [Action::Result(answer)]);
        Self {
            home: TempDir::new().expect("a directory"),
            process: script.command(),
        }
    }

    /// Installs it in a directory of this name; its root.
    fn install(&self, name: &str) -> std::path::PathBuf {
        let root = self.home.path().join(name);
        let args: Vec<_> = self
            .process
            .args()
            .into_iter()
            .map(|arg| arg.into_string().expect("text"))
            .collect();
        let entry = json!({"command": self.process.program(), "args": args, "era": "legacy", "env": {"ROOT": "${CLAUDE_PLUGIN_ROOT}"}, "env_in_argv": true});
        let manifest = json!({"name": "docs-plugin", "mcpServers": {"docs": entry}});
        write(
            &root.join(".claude-plugin/plugin.json"),
            &manifest.to_string(),
        );
        root
    }

    /// Where the process found itself, and what it was told of that.
    fn found(&self) -> (Value, Value) {
        let start = self.process.log().events("start").remove(0);
        (start["cwd"].clone(), start["env"]["ROOT"].clone())
    }
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
    fs::write(path, text).expect("a file");
}

fn environment(id: &str) -> Environment {
    Environment::new(id.parse().expect("an id"))
}

fn key(environment: &str, server: &str) -> McpServerKey {
    let environment = environment.parse().expect("an id");
    McpServerKey::in_environment(environment, server.parse().expect("a name"))
}

/// What the tool of each exposed server says.
async fn said(host: &Host) -> Vec<(McpServerKey, String)> {
    let binding = host.runtime.capture();
    let mut said = Vec::new();
    for tool in binding.tools() {
        let call = binding
            .prepare(tool.name().flat())
            .expect("a tool of the binding");
        let output = at_once(call.execute(CallOptions::new()))
            .await
            .expect("an answer");
        said.push((tool.key().server().clone(), output.text()));
    }
    said
}

/// K9
#[tokio::test]
async fn the_same_plugin_in_two_environments_is_two_servers() {
    let (here, there) = (Plugin::saying("here"), Plugin::saying("there"));
    let executor = CommandExecutor::new(["env"], Quoting::None).expect("a command");
    let (here_root, there_root) = (here.install("p"), there.install("p"));
    let builder = builder()
        .multi_environment(MultiEnvironment::On)
        .environment(environment("local").plugin_root(&here_root))
        .environment(
            environment("box")
                .executor(executor)
                .plugin_root(&there_root),
        );
    let host = Host::begin(builder).settled().await;
    let expected = [
        (key("box", "docs"), "there".to_owned()),
        (key("local", "docs"), "here".to_owned()),
    ];
    assert_eq!(said(&host).await, expected);
    for status in host.runtime.status() {
        assert_eq!(status.plugin(), Some("docs-plugin"));
    }
    host.end().await;
    for (plugin, root) in [(here, here_root), (there, there_root)] {
        let root = json!(root.canonicalize().expect("it is there"));
        assert_eq!(plugin.found(), (root.clone(), root));
    }
}

/// K9
#[tokio::test]
async fn a_second_installation_in_one_environment_is_named_after_itself() {
    let (stable, nightly) = (Plugin::saying("stable"), Plugin::saying("nightly"));
    let roots = [stable.install("stable"), nightly.install("nightly")];
    let local = roots
        .iter()
        .fold(environment("local"), Environment::plugin_root);
    let builder = builder().multi_environment(MultiEnvironment::On);
    let host = Host::begin(builder.environment(local)).settled().await;
    let expected = [("docs", "stable"), ("docs@nightly", "nightly")];
    let expected = expected.map(|(server, text)| (key("local", server), text.to_owned()));
    assert_eq!(said(&host).await, expected);
    host.end().await;
}

/// K8
#[tokio::test]
async fn without_the_feature_only_the_plugins_of_the_primary_environment_are_exposed() {
    let (here, there) = (Plugin::saying("here"), Plugin::saying("there"));
    let builder = builder()
        .environment(environment("local").plugin_root(here.install("p")))
        .environment(environment("box").plugin_root(there.install("p")));
    let host = Host::begin(builder);
    at_once(host.runtime.settled()).await;
    let docs = McpServerKey::host("docs".parse().expect("a name"));
    assert_eq!(said(&host).await, [(docs, "here".to_owned())]);
    let status = host.runtime.status();
    let hidden = status
        .iter()
        .find(|status| status.key() == &key("box", "docs"));
    let hidden = hidden.expect("it is configured");
    assert!(matches!(hidden.state(), ServerState::Hidden { .. }));
    host.end().await;
    assert_eq!(there.process.log().pids(), [0; 0]);
}

/// K9: and what is wrong is told before anything else.
#[tokio::test]
async fn a_broken_plugin_costs_nobody_else_anything() {
    let plugin = Plugin::saying("here");
    let (good, broken) = (plugin.install("good"), plugin.home.path().join("broken"));
    write(&broken.join(".mcp.json"), "{\n  \"mcpServers\": [");
    let local = environment("local").plugin_root(&broken).plugin_root(&good);
    let mut host = Host::begin(builder().environment(local)).settled().await;
    let [error] = host.runtime.plugin_errors() else {
        panic!("{:?}", host.runtime.plugin_errors());
    };
    assert_eq!(error.file(), broken.join(".mcp.json"));
    assert_eq!(error.place().map(|place| place.line()), Some(2));
    assert_eq!(error.environment().as_str(), "local");
    let told = host.told();
    let RuntimeEvent::PluginError { message, .. } = &told[0] else {
        panic!("{told:?}");
    };
    assert!(message.contains(".mcp.json:2:17"), "{message}");
    host.end().await;
}

/// K9: nor is the file opened, whatever it is.
#[tokio::test]
async fn no_link_leads_out_of_a_plugin() {
    let outside = TempDir::new().expect("a directory");
    write(
        &outside.path().join("servers.json"),
        r#"{"mcpServers": {"docs": {"command": "x"}}}"#,
    );
    let root = TempDir::new().expect("a directory");
    let manifest = r#"{"mcpServers": "conf/servers.json"}"#;
    write(&root.path().join(".claude-plugin/plugin.json"), manifest);
    symlink(outside.path(), root.path().join("conf")).expect("a link");
    let other = TempDir::new().expect("a directory");
    symlink(
        outside.path().join("servers.json"),
        other.path().join(".mcp.json"),
    )
    .expect("a link");
    let inside = TempDir::new().expect("a directory");
    write(&inside.path().join("real.json"), r#"{"mcpServers": {}}"#);
    symlink("real.json", inside.path().join(".mcp.json")).expect("a link");
    let local = environment("local")
        .plugin_root(root.path())
        .plugin_root(other.path())
        .plugin_root(inside.path());
    let host = Host::begin(builder().environment(local));
    let errors = host.runtime.plugin_errors();
    assert_eq!(errors.len(), 2, "{errors:?}");
    for error in errors {
        assert!(
            matches!(error.kind(), PluginErrorKind::Outside),
            "{error:?}"
        );
    }
    assert_eq!(host.runtime.status().len(), 0);
    host.end().await;
}
