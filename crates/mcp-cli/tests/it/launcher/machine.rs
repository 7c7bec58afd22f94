//! Whether anything can be confined on this machine at all.

use std::process::{Command, Stdio};

use super::workplace::{Permission, Workplace};

/// Says of a failure of the other tests whose it is.
#[test]
#[ignore = "run by cargo xtask interop"]
fn this_machine_can_confine() {
    let workplace = Workplace::new();
    let state = workplace.state(Permission::ReadOnly).to_string();
    let output = Command::new(super::launcher())
        .args(["sandbox", "--sandbox-state-json", &state, "--", "/bin/true"])
        .env("HOME", workplace.home())
        .stdin(Stdio::null())
        .output()
        .expect("the launcher starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "the launcher cannot confine anything here, {}: {said}",
        output.status
    );
}
