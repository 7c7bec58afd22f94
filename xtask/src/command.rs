//! Cargo and git commands in the workspace, with a clean environment.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::error::TaskError;

/// The root of the workspace.
pub(crate) fn workspace_root() -> PathBuf {
    // Set by `cargo run`, `cargo test` and nextest; the one compiled in serves a binary started by hand.
    let manifest_dir = std::env::var_os("CARGO_MANIFEST_DIR")
        .unwrap_or_else(|| OsString::from(env!("CARGO_MANIFEST_DIR")));
    let xtask = PathBuf::from(manifest_dir);
    xtask.parent().map(Path::to_path_buf).unwrap_or(xtask)
}

/// The cargo that runs xtask.
pub(crate) fn cargo_program() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"))
}

/// A `cargo` command at the root of the workspace.
///
/// What `cargo run` told xtask about xtask is taken out: build scripts that watch those variables would
/// rebuild, and a rebuild of a C library at every step costs minutes. What a user sets (`CARGO_HOME`,
/// `CARGO_TARGET_DIR`, profiles, ...) stays. Snapshots are compared and never written.
pub(crate) fn cargo<'a>(args: impl IntoIterator<Item = &'a str>) -> Command {
    let mut command = Command::new(cargo_program());
    command.args(args).current_dir(workspace_root());
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(describes_xtask_or_snapshots) {
            command.env_remove(name);
        }
    }
    command.env("INSTA_UPDATE", "no");
    command.env("INSTA_FORCE_PASS", "0");
    command
}

fn describes_xtask_or_snapshots(name: &str) -> bool {
    matches!(
        name,
        "CARGO_CRATE_NAME" | "CARGO_BIN_NAME" | "CARGO_PRIMARY_PACKAGE" | "CARGO_TARGET_TMPDIR"
    ) || ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_EXE_", "INSTA_"]
        .iter()
        .any(|prefix| name.starts_with(prefix))
}

/// Where cargo builds.
///
/// # Errors
///
/// When cargo does not say.
pub(crate) fn target_directory() -> Result<PathBuf, TaskError> {
    cargo_metadata::MetadataCommand::new()
        .cargo_path(cargo_program())
        .manifest_path(workspace_root().join("Cargo.toml"))
        .no_deps()
        .exec()
        .map(|metadata| metadata.target_directory.into_std_path_buf())
        .map_err(|error| TaskError::Metadata(Box::new(error)))
}

/// A `git` command at `root`.
pub(crate) fn git<'a>(root: &Path, args: impl IntoIterator<Item = &'a str>) -> Command {
    let mut command = Command::new("git");
    command.args(args).current_dir(root);
    command
}

/// Runs a command with its output on our terminal.
///
/// # Errors
///
/// When it cannot be started or reports failure.
pub(crate) fn run(command: &mut Command) -> Result<(), TaskError> {
    let shown = show(command);
    eprintln!("$ {shown}");
    let status = command.status().map_err(|source| TaskError::Start {
        command: shown.clone(),
        source,
    })?;
    if status.success() {
        Ok(())
    } else {
        Err(TaskError::Exit {
            command: shown,
            status,
        })
    }
}

/// Runs a command and returns what it wrote to stdout; stderr stays on our terminal.
///
/// # Errors
///
/// When it cannot be started or reports failure.
pub(crate) fn stdout(command: &mut Command) -> Result<String, TaskError> {
    let shown = show(command);
    let output = command
        .stderr(Stdio::inherit())
        .output()
        .map_err(|source| TaskError::Start {
            command: shown.clone(),
            source,
        })?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(TaskError::Exit {
            command: shown,
            status: output.status,
        })
    }
}

/// Whether a command works at all; its output is thrown away.
pub(crate) fn works(command: &mut Command) -> bool {
    command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// The command as one would type it, with the variables that change what it does.
fn show(command: &Command) -> String {
    let mut words = Vec::new();
    for (name, value) in command.get_envs() {
        let name = name.to_string_lossy();
        if let Some(value) = value
            && !name.starts_with("INSTA_")
        {
            words.push(format!("{name}={:?}", value.to_string_lossy()));
        }
    }
    let program = Path::new(command.get_program());
    words.push(
        program
            .file_stem()
            .unwrap_or(command.get_program())
            .to_string_lossy()
            .into_owned(),
    );
    words.extend(
        command
            .get_args()
            .map(|arg| arg.to_string_lossy().into_owned()),
    );
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, removed: bool) {
        assert_eq!(describes_xtask_or_snapshots(name), removed, "{name}");
    }

    #[test]
    fn takes_out_what_cargo_says_about_xtask_and_leaves_what_a_user_sets() {
        check("CARGO_PKG_NAME", true); // watched by the build script of the TLS provider
        check("CARGO_MANIFEST_DIR", true);
        check("INSTA_FORCE_PASS", true); // would let differing snapshots pass
        check("CARGO_TARGET_DIR", false);
        check("CARGO_HOME", false);
        check("CARGO_BUILD_JOBS", false);
        check("RUSTFLAGS", false);
    }

    #[test]
    fn shows_a_command_with_its_variables() {
        let mut command = Command::new("cargo");
        command
            .args(["doc", "--no-deps"])
            .env("RUSTDOCFLAGS", "-D warnings");
        assert_eq!(
            show(&command),
            "RUSTDOCFLAGS=\"-D warnings\" cargo doc --no-deps"
        );
    }

    #[test]
    fn a_failing_command_is_an_error() {
        let error = run(&mut cargo(["no-such-subcommand"])).expect_err("cargo refuses it");
        assert!(matches!(error, TaskError::Exit { .. }), "{error:?}");
    }
}
