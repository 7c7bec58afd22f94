//! Plugins as they lie on disk.

use std::fs;

use tempfile::TempDir;

use super::*;
use crate::chain::ErrorChain;

/// A directory with files.
fn directory(files: &[(&str, &str)]) -> TempDir {
    let directory = TempDir::new().unwrap();
    add(directory.path(), files);
    directory
}

fn add(root: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        let path = root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

const DOCS: &str = r#"{"mcpServers": {"docs": {"command": "docs-server"}}}"#;

/// What is found: servers with their plugins, then what is wrong.
fn found(roots: &[&Path], taken: &[&str]) -> (Vec<String>, Vec<String>) {
    let id = "devbox".parse().unwrap();
    let taken = taken.iter().map(|name| name.parse().unwrap());
    let mut plugins = Plugins::new(&id, taken);
    roots.iter().for_each(|root| plugins.look_into(root));
    let server =
        |server: &InstalledServer| format!("{} of {}", server.config.name(), server.plugin);
    let servers = plugins.servers.iter().map(server).collect();
    let errors = plugins.errors.iter();
    (
        servers,
        errors.map(|error| ErrorChain(error).to_string()).collect(),
    )
}

#[track_caller]
fn check(files: &[(&str, &str)], expected: &[&str], why: &str) {
    let root = directory(files);
    assert_eq!(
        found(&[root.path()], &[]),
        (
            expected.iter().map(ToString::to_string).collect(),
            Vec::new()
        ),
        "{why}"
    );
}

/// K9
#[test]
fn a_plugin_says_what_it_is_called_and_where_its_servers_are() {
    let inline = r#"{"name": "p", "version": "1", "mcpServers": {"docs": {"command": "x"}}}"#;
    let named = r#"{"name": "p", "mcpServers": "./conf/servers.json"}"#;
    let codex = ".codex-plugin/plugin.json";
    let claude = ".claude-plugin/plugin.json";
    check(&[(codex, inline)], &["docs of p"], "in the manifest itself");
    check(
        &[(claude, inline)],
        &["docs of p"],
        "in the other host's manifest",
    );
    check(
        &[(claude, named), ("conf/servers.json", DOCS)],
        &["docs of p"],
        "in a file it names",
    );
    check(
        &[(claude, r#"{"name": "p"}"#), (".mcp.json", DOCS)],
        &["docs of p"],
        "in the usual file",
    );
    check(&[(claude, r#"{"name": "p"}"#)], &[], "it has none");
    let other = r#"{"name": "q", "mcpServers": {"web": {"command": "x"}}}"#;
    check(
        &[(codex, inline), (claude, other), (".mcp.json", "no JSON")],
        &["docs of p"],
        "the first one counts",
    );
    check(
        &[(codex, "\u{feff}{\"name\": \"p\", \"mcpServers\": {}}")],
        &[],
        "a byte order mark",
    );
}

/// K9
#[test]
fn one_without_a_name_is_called_after_its_directory() {
    let home = TempDir::new().unwrap();
    add(home.path(), &[("docs-plugin/.mcp.json", DOCS)]);
    let (servers, errors) = found(&[&home.path().join("docs-plugin")], &[]);
    assert_eq!(
        (servers, errors),
        (vec!["docs of docs-plugin".to_owned()], vec![])
    );
}

/// K9
#[test]
fn a_further_installation_has_its_directory_in_the_names_of_its_servers() {
    let manifest =
        r#"{"name": "p", "mcpServers": {"docs": {"command": "x"}, "web": {"command": "x"}}}"#;
    let file = |root: &str| format!("{root}/.claude-plugin/plugin.json");
    let home = TempDir::new().unwrap();
    add(
        home.path(),
        &[
            (&file("stable"), manifest),
            (&file("nightly"), manifest),
            (&file("a/nightly"), manifest),
        ],
    );
    let [stable, nightly, again] =
        ["stable", "nightly", "a/nightly"].map(|name| home.path().join(name));
    let (servers, errors) = found(&[&stable, &nightly, &stable], &[]);
    assert_eq!(
        servers,
        [
            "docs of p",
            "web of p",
            "docs@nightly of p",
            "web@nightly of p"
        ]
    );
    assert_eq!(
        errors, [""; 0],
        "the same directory is the same installation"
    );
    // Two further ones in directories of one name cannot be told apart by it.
    let (servers, errors) = found(&[&stable, &nightly, &again], &["web"]);
    assert_eq!(
        servers,
        ["docs of p", "docs@nightly of p", "web@nightly of p"]
    );
    assert_eq!(errors.len(), 3, "{errors:#?}");
    for (error, server) in errors
        .iter()
        .zip(["`web`", "`docs@nightly`", "`web@nightly`"])
    {
        assert!(
            error.contains(&format!("server {server} is left out")),
            "{error}"
        );
    }
}

/// K9, U1: each costs that plugin only, and says where it is.
#[test]
fn a_broken_plugin_is_told_with_its_place_and_costs_the_others_nothing() {
    let good = directory(&[(".mcp.json", DOCS)]);
    let manifest = ".claude-plugin/plugin.json";
    let long = format!("{}{}", " ".repeat(1024 * 1024), DOCS);
    let rows: &[(&[(&str, &str)], &str)] = &[
        (&[], ": there is no `.codex-plugin/plugin.json`, "),
        (
            &[(".mcp.json", "{\n \"mcpServers\": {,}}")],
            ".mcp.json:2:17: the configuration cannot be read: invalid JSON",
        ),
        (&[(".mcp.json", "{}")], ".mcp.json:1:1: "),
        (
            &[(".mcp.json", &long)],
            ".mcp.json: the file is larger than 1048576 bytes",
        ),
        (
            &[(manifest, "{\n\"name\": }")],
            "plugin.json:2:9: invalid JSON",
        ),
        (
            &[(manifest, "[]")],
            "plugin.json:1:1: `plugin.json` must be an object",
        ),
        (
            &[(manifest, r#"{"name": " "}"#)],
            "plugin.json:1:10: `name` must be a string that is not empty",
        ),
        (
            &[(manifest, r#"{"mcpServers": 7}"#)],
            "plugin.json:1:16: `mcpServers` must be an object of servers, or the path",
        ),
        (
            &[(manifest, r#"{"mcpServers": "nowhere.json"}"#)],
            "plugin.json:1:16: `mcpServers` must be the path of a file that is there",
        ),
        (
            &[(manifest, r#"{"mcpServers": "../x.json"}"#)],
            "plugin.json:1:16: the file is not inside of the plugin's root",
        ),
        (
            &[(manifest, r#"{"mcpServers": "/etc/hostname"}"#)],
            "plugin.json:1:16: the file is not inside of the plugin's root",
        ),
        (
            &[(manifest, r#"{"mcpServers": "dir"}"#), ("dir/x", "")],
            "dir: the file cannot be read: it is no file",
        ),
    ];
    for (files, says) in rows {
        let broken = directory(files);
        let (servers, errors) = found(&[broken.path(), good.path()], &[]);
        assert_eq!(servers.len(), 1, "{says}");
        let [error] = errors.as_slice() else {
            panic!("one error, not {errors:?}");
        };
        assert!(error.contains(says), "{error}\n does not say {says}");
        assert!(
            error.contains("`devbox`") && error.contains(broken.path().to_str().unwrap()),
            "{error}"
        );
    }
    let (_, errors) = found(&[&good.path().join("nowhere")], &[]);
    assert!(
        errors[0].contains("the root of the plugin cannot be read"),
        "{errors:?}"
    );
}

/// U1
#[test]
fn a_wrong_server_costs_that_server() {
    let text = "{\"mcpServers\": {\"docs\": {\"command\": \"x\"},\n \"odd\": {\"command\": 7}}}";
    let root = directory(&[(".mcp.json", text)]);
    let (servers, errors) = found(&[root.path()], &[]);
    assert_eq!(servers.len(), 1);
    assert!(
        errors[0].contains(".mcp.json:2:21: server `odd` is not configured correctly"),
        "{errors:?}"
    );
}

/// K9
#[test]
fn the_root_is_put_in_and_paths_begin_there() {
    let root = Path::new("/plugins/docs");
    let rows = [
        ("docs-server", "docs-server", "looked up in `PATH`"),
        (
            "./bin/docs",
            "/plugins/docs/./bin/docs",
            "a path of the plugin",
        ),
        ("bin/docs", "/plugins/docs/bin/docs", "another"),
        (
            "${CLAUDE_PLUGIN_ROOT}/docs",
            "/plugins/docs/docs",
            "named by what stands for it",
        ),
        ("/usr/bin/docs", "/usr/bin/docs", "a path of the machine"),
        ("${HOME}", "${HOME}", "nothing else is put in"),
    ];
    for (command, expected, why) in rows {
        let stdio = StdioTransport::new(command)
            .args(["--data=${PLUGIN_ROOT}/x", "y"])
            .env("DATA", "${CODEX_PLUGIN_ROOT}");
        let placed = process_in_root(stdio, root.to_str().unwrap());
        assert_eq!(placed.command, expected, "{why}");
        assert_eq!(placed.args, ["--data=/plugins/docs/x", "y"]);
        assert_eq!(placed.env[0].1.reveal(), "/plugins/docs");
        assert_eq!(placed.cwd.as_deref(), Some(root));
    }
    for (cwd, expected) in [
        ("data", "/plugins/docs/data"),
        ("/srv", "/srv"),
        ("${PLUGIN_ROOT}/a", "/plugins/docs/a"),
    ] {
        let placed = process_in_root(StdioTransport::new("x").cwd(cwd), root.to_str().unwrap());
        assert_eq!(placed.cwd.as_deref(), Some(Path::new(expected)));
    }
}
