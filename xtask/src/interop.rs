//! `cargo xtask interop`: installs a sandbox launcher, and runs the tests that need one.
//!
//! Of the package only the published program is used. It comes from npm, over the network, so `ci` leaves this out.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use cargo_metadata::Message;

use crate::command::{cargo, run, stdout, target_directory};
use crate::error::TaskError;

const PACKAGE: &str = "@openai/codex@0.171.0";
/// The example server of mcp-sandbox-meta.
const SERVER: &str = "confined-server";

/// Tests that need a launcher. They are ignored otherwise.
struct Tests {
    /// The arguments of `cargo test` up to its own `--`.
    target: &'static [&'static str],
    module: &'static str,
}

const PROBE: Tests = Tests {
    target: &[
        "--package",
        "mcp-sandbox-meta",
        "--features",
        "probe",
        "--test",
        "it",
    ],
    module: "probe::real::",
};
const MACHINE: Tests = Tests {
    target: &["--package", "mcp-cli", "--test", "it"],
    module: "launcher::machine::",
};
const CONFINEMENT: Tests = Tests {
    target: &["--package", "mcp-cli", "--test", "it"],
    module: "launcher::",
};

/// Installs, builds and tests.
///
/// # Errors
///
/// When something cannot be installed or built, a test fails, or this machine cannot confine anything: then nothing is
/// known of confinement.
pub(crate) fn check() -> Result<(), TaskError> {
    let launcher = install(&target_directory()?.join("interop"))?;
    let server = build_server()?;
    let test = |tests: &Tests| tests.run(&launcher, &server);
    test(&PROBE)?;
    test(&MACHINE).map_err(|error| match error {
        TaskError::Exit { .. } => TaskError::CannotConfine,
        other => other,
    })?;
    test(&CONFINEMENT)
}

impl Tests {
    fn run(&self, launcher: &Path, server: &Path) -> Result<(), TaskError> {
        let test = |extra: &[&str]| {
            let mut command = cargo(["test"]);
            command
                .args(self.target)
                .args(["--", "--ignored", self.module])
                .args(extra)
                .env("MCP_INTEROP_LAUNCHER", launcher)
                .env("MCP_INTEROP_SERVER", server);
            command
        };
        // A filter that matches nothing passes: look first. This is also where a test that cannot be built fails.
        if !stdout(&mut test(&["--list"]))?.contains(": test") {
            return Err(TaskError::NoTests { step: "interop" });
        }
        run(&mut test(&[]))
    }
}

/// Installs the launcher below `folder`, unless it is there, and finds it.
fn install(folder: &Path) -> Result<PathBuf, TaskError> {
    fs::create_dir_all(folder).map_err(TaskError::file(folder))?;
    // Without one, npm looks for a project in the folders above.
    let manifest = folder.join("package.json");
    fs::write(&manifest, "{\"private\": true}\n").map_err(TaskError::file(&manifest))?;
    let mut npm = Command::new("npm");
    npm.args(["install", "--no-save", "--ignore-scripts", "--no-audit"])
        .args(["--no-fund", "--prefer-offline", PACKAGE])
        .current_dir(folder);
    run(&mut npm)?;
    let modules = folder.join("node_modules").join("@openai");
    find_launcher(&modules)?.ok_or(TaskError::NoLauncher { below: modules })
}

/// `<package of the platform>/vendor/<target>/bin/codex`: the program itself, not the script that starts it.
fn find_launcher(modules: &Path) -> Result<Option<PathBuf>, TaskError> {
    for package in entries(modules)? {
        let vendor = package.join("vendor");
        if !vendor.is_dir() {
            continue;
        }
        for target in entries(&vendor)? {
            let launcher = target.join("bin").join("codex");
            if launcher.is_file() {
                return fs::canonicalize(&launcher)
                    .map(Some)
                    .map_err(TaskError::file(&launcher));
            }
        }
    }
    Ok(None)
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, TaskError> {
    let entries = fs::read_dir(folder).map_err(TaskError::file(folder))?;
    let paths = entries.map(|entry| entry.map(|entry| entry.path()));
    paths
        .collect::<Result<_, _>>()
        .map_err(TaskError::file(folder))
}

/// The path of the server that was built, as cargo tells it.
fn build_server() -> Result<PathBuf, TaskError> {
    let mut command = cargo([
        "build",
        "--package",
        "mcp-sandbox-meta",
        "--example",
        SERVER,
    ]);
    command.arg("--message-format=json-render-diagnostics");
    let messages = stdout(&mut command)?;
    Message::parse_stream(messages.as_bytes())
        .filter_map(Result::ok)
        .find_map(|message| match message {
            Message::CompilerArtifact(artifact) if artifact.target.name == SERVER => {
                artifact.executable
            }
            _ => None,
        })
        .map(PathBuf::from)
        .ok_or(TaskError::NotBuilt { program: SERVER })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where among these files the launcher is found.
    #[track_caller]
    fn check(name: &str, files: &[&str], expected: Option<&str>) {
        let root = std::env::temp_dir().join(format!("xtask-{}-{name}", std::process::id()));
        fs::create_dir_all(&root).expect("a folder");
        let root = fs::canonicalize(root).expect("it was just made");
        for file in files {
            let path = root.join(file);
            fs::create_dir_all(path.parent().expect("below the root")).expect("a folder");
            fs::write(&path, "").expect("a file");
        }
        let found = find_launcher(&root);
        fs::remove_dir_all(&root).expect("its own folder");
        let expected = expected.map(|path| root.join(path));
        assert_eq!(found.expect("it can be read"), expected, "{name}");
    }

    #[test]
    fn the_launcher_is_the_program_and_not_the_script_that_starts_it() {
        let script = "codex/bin/codex.js";
        let program = "codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex";
        let resource = "codex-linux-x64/vendor/x86_64-unknown-linux-musl/codex-path/rg";
        check("both", &[script, resource, program], Some(program));
        check("no-program", &[script, resource], None);
        check("nothing", &[], None);
    }
}
