//! Which executables a server is told to use (S4, S5).

use std::path::PathBuf;
use std::time::Duration;

use tokio::time::Instant;

use super::host::Host;
use super::workplace::{Permission, Workplace};

/// Executables, and whether a server gets to know them. One whose path is not UTF-8 cannot be named in JSON; it is tried
/// where the question is asked.
fn executables(workplace: &Workplace) -> Vec<(PathBuf, bool)> {
    let real = super::launcher();
    let folder = real.parent().expect("it is in a folder").to_owned();
    let link = workplace.project().join("a link");
    std::os::unix::fs::symlink(&real, &link).expect("a link");
    vec![
        (real, true),
        (link, true),
        (PathBuf::from("/bin/true"), true),
        (PathBuf::from("/bin/false"), false),
        (PathBuf::from("/nonexistent"), false),
        (PathBuf::from("bin/true"), false),
        (PathBuf::from("true"), false),
        (folder, false),
        (
            workplace.file("not executable", "#!/bin/sh\n", 0o644),
            false,
        ),
        (
            workplace.file("refuses", "#!/bin/sh\nsleep 1000 & exit 2\n", 0o755),
            false,
        ),
        (workplace.file("no program", "nothing", 0o755), false),
    ]
}

/// S4, S5
#[test]
#[ignore = "run by cargo xtask interop"]
fn a_server_is_told_of_a_launcher_that_answers_as_one() {
    let mut host = Host::start(Permission::ReadOnly);
    for (executable, told) in executables(host.workplace()) {
        host.set_launcher(&executable);
        let said = host.run("true");
        if told {
            said.with_status(0);
        } else {
            said.refused("the host named no sandbox launcher");
        }
        host.settles();
    }
    host.end();
}

/// S5
#[test]
#[ignore = "run by cargo xtask interop"]
fn one_that_hangs_is_asked_once_for_a_while_and_leaves_nothing() {
    let mut host = Host::start(Permission::ReadOnly);
    let hangs = "#!/bin/sh\necho > \"$MCP_INTEROP_WORKPLACE/asked\"\nsleep 1000 & setsid sleep 1000 & sleep 1000\n";
    let hangs = host.workplace().file("hangs", hangs, 0o755);
    host.set_launcher(&hangs);
    let refused = |host: &mut Host| {
        let begun = Instant::now();
        host.run("true")
            .refused("the host named no sandbox launcher");
        begun.elapsed()
    };
    let asked = refused(&mut host);
    assert!(asked < Duration::from_secs(8), "{asked:?}");
    assert!(
        host.workplace().project().join("asked").exists(),
        "it hung with a mark"
    );
    host.settles();
    let remembered = refused(&mut host);
    assert!(remembered < Duration::from_secs(2), "{remembered:?}");
    host.set_launcher(&super::launcher());
    host.run("true").with_status(0);
    host.end();
}
