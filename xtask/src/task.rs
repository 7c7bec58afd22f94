//! The steps of `cargo xtask ci`, in the order in which they run: the cheap ones first.

use std::path::PathBuf;

use crate::command::{cargo, run, stdout, target_directory, works, workspace_root};
use crate::error::TaskError;
use crate::{interop, snapshots, tidy};

/// One step.
pub(crate) struct Task {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) run: fn(&mut Session) -> Result<(), TaskError>,
}

/// What earlier steps of one run leave for later ones.
#[derive(Debug, Default)]
pub(crate) struct Session {
    /// All tests ran and passed, so the record of snapshots they looked at is whole; `None`: not run.
    pub(crate) tests_passed: Option<bool>,
}

/// All crates with all features; the step `alone` looks at them without.
const EVERYTHING: [&str; 2] = ["--workspace", "--all-features"];

/// The crates that somebody may use without the rest (X1).
const LEAVES: &[&str] = &[
    "mcp-keys",
    "mcp-catalog",
    "mcp-sandbox-meta",
    "mcp-telemetry",
];

/// Every step.
pub(crate) static TASKS: &[Task] = &[
    Task {
        name: "fmt",
        about: "formatting is rustfmt's",
        run: |_| run(&mut cargo(["fmt", "--all", "--check"])),
    },
    Task {
        name: "tidy",
        about: "the rules of this workspace: crate graph, manifests, files, text",
        run: |_| tidy::run(&workspace_root()),
    },
    Task {
        name: "clippy",
        about: "no warning in any target",
        run: |_| {
            let flags = ["--all-targets", "--keep-going", "--", "-D", "warnings"];
            run(cargo(["clippy"]).args(EVERYTHING).args(flags))
        },
    },
    Task {
        name: "alone",
        about: "each leaf crate compiles by itself, without what others switch on for it",
        run: |_| alone(),
    },
    Task {
        name: "test",
        about: "all tests but doc tests, with nextest where it is installed",
        run: test,
    },
    Task {
        name: "doc-test",
        about: "the examples in the documentation",
        run: |_| {
            run(&mut cargo([
                "test",
                "--workspace",
                "--doc",
                "--no-fail-fast",
            ]))
        },
    },
    Task {
        name: "doc",
        about: "the documentation builds without a warning",
        run: |_| {
            let mut command = cargo(["doc", "--no-deps", "--keep-going"]);
            let command = command.args(EVERYTHING);
            run(command.env("RUSTDOCFLAGS", "-D warnings"))
        },
    },
    Task {
        name: "snapshots",
        about: "no snapshot waits for review, none is left that no test looks at",
        run: |session| {
            if session.tests_passed.is_none() {
                // Its result is in the session; it has printed its failures.
                let _ = test(session);
            }
            if session.tests_passed == Some(true) {
                snapshots::check(&workspace_root(), &references_file()?)
            } else {
                Err(TaskError::Needs { step: "test" })
            }
        },
    },
    Task {
        name: "shuttle",
        about: "mcp-catalog under many interleavings of its threads",
        run: |_| shuttle(),
    },
];

/// Steps that `ci` leaves out, since they need more than a Rust toolchain.
pub(crate) static APART: &[Task] = &[Task {
    name: "interop",
    about: "a real sandbox launcher behind our runtime and our server; needs npm and the network",
    run: |_| interop::check(),
}];

/// In a build of the whole workspace, a feature of a dependency that one crate asks for is there for all;
/// and so are those that dev-dependencies ask for. Hence the library only, which is what others compile.
fn alone() -> Result<(), TaskError> {
    for leaf in LEAVES {
        run(&mut cargo(["check", "--package", leaf, "--lib"]))?;
    }
    Ok(())
}

fn test(session: &mut Session) -> Result<(), TaskError> {
    let references = references_file()?;
    snapshots::forget(&references)?;
    let mut command = if works(&mut cargo(["nextest", "--version"])) {
        cargo(["nextest", "run", "--profile", "ci"])
    } else {
        // Not `--all-targets`: that runs the benchmarks.
        let targets = ["--lib", "--bins", "--tests", "--examples"];
        let mut command = cargo(["test", "--no-fail-fast"]);
        command.args(targets);
        command
    };
    let command = command.args(EVERYTHING);
    let result = run(command.env("INSTA_SNAPSHOT_REFERENCES_FILE", references));
    session.tests_passed = Some(result.is_ok());
    result
}

/// Where the tests record the snapshots they look at.
fn references_file() -> Result<PathBuf, TaskError> {
    Ok(target_directory()?.join("xtask-snapshot-references.txt"))
}

/// The module name of tests that shuttle runs.
const EXPLORED: &str = "explored";

/// `cfg(shuttle)` swaps the synchronisation of mcp-catalog for shuttle's. The flag rebuilds every
/// dependency, so these builds have a folder of their own below the usual one.
fn shuttle() -> Result<(), TaskError> {
    let target = target_directory()?.join("shuttle");
    let mut flags = std::env::var("RUSTFLAGS").unwrap_or_default();
    if !flags.is_empty() {
        flags.push(' ');
    }
    flags.push_str("--cfg shuttle");
    let tests = |args: &[&str]| {
        let mut command = cargo(["test", "--package", "mcp-catalog", "--lib"]);
        command
            .args(args)
            .args(["--", EXPLORED])
            .env("RUSTFLAGS", &flags)
            .env("CARGO_TARGET_DIR", &target);
        command
    };
    // A filter that matches nothing passes: count first.
    let listed = stdout(tests(&[]).arg("--list"))?;
    if !listed.lines().any(|line| line.ends_with(": test")) {
        return Err(TaskError::NoTests { step: "shuttle" });
    }
    run(&mut tests(&["--no-fail-fast"]))
}
