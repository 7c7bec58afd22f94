//! Tests in a process of their own, where nothing but what they do themselves is to be seen.

use std::env;
use std::process::{Child, Command, Stdio};

/// Set for a test that is alone, to its name.
const ALONE: &str = "MCP_RUNTIME_TEST_ALONE";

/// Runs `body` in this test once more, in a process of its own; `test` is its full name.
pub(super) fn alone(test: &str, body: impl FnOnce()) {
    if is_alone(test) {
        return body();
    }
    let output = again(test).output().expect("the test's own executable");
    let told = [output.stdout, output.stderr].concat();
    let told = String::from_utf8_lossy(&told);
    // A name that is no test's runs none, and that is no failure.
    let passed = output.status.success() && told.contains("1 passed");
    assert!(passed, "{test} fails when it is alone:\n{told}");
}

pub(super) fn is_alone(test: &str) -> bool {
    env::var(ALONE).is_ok_and(|name| name == test)
}

/// Starts a test once more, in a process of its own that is this one's to end; `with` is for the test to read.
pub(super) fn start_again(test: &str, with: (&str, &str)) -> Child {
    let started = again(test)
        .env(with.0, with.1)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    started.expect("the test's own executable")
}

fn again(test: &str) -> Command {
    let mut command = Command::new(env::current_exe().expect("a test has an executable"));
    command
        .args(["--exact", test, "--nocapture"])
        .env(ALONE, test);
    command.stdin(Stdio::null());
    command
}
