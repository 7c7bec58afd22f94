//! A real launcher, which `cargo xtask interop` installs (S4, S5).

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use mcp_sandbox_meta::LauncherProbe;

use super::check;
use super::stub::until;

/// Whether a process runs this program.
fn runs(program: &Path) -> bool {
    let processes = fs::read_dir("/proc")
        .expect("a list of processes")
        .flatten();
    processes
        .filter_map(|process| fs::read_link(process.path().join("exe")).ok())
        .any(|running| running == program)
}

/// S4, S5
#[tokio::test]
#[ignore = "run by cargo xtask interop"]
async fn a_real_launcher_is_one_by_every_path_that_can_be_sent() {
    let real = std::env::var_os("MCP_INTEROP_LAUNCHER").expect("`cargo xtask interop` sets it");
    let real = fs::canonicalize(real).expect("it is installed");
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("a link");
    let unspeakable = folder.path().join(OsStr::from_bytes(b"\xff"));
    symlink(&real, &link).unwrap();
    symlink(&real, &unspeakable).unwrap();
    let up: PathBuf = std::env::current_dir()
        .unwrap()
        .ancestors()
        .skip(1)
        .map(|_| "..")
        .collect();
    let relative = up.join(real.strip_prefix("/").unwrap());
    assert!(relative.exists() && unspeakable.exists());

    let probe = LauncherProbe::new();
    for (path, expected, why) in [
        (real.as_path(), "launcher", "as it is installed"),
        (&link, "launcher", "by another name"),
        (&relative, "path", "not absolute"),
        (&unspeakable, "path", "not UTF-8"),
        (real.parent().unwrap(), "start", "a folder"),
    ] {
        for _ in 0..2 {
            check(&probe.probe(path).await, expected, why);
            until("nothing is left of it", || !runs(&real)).await;
        }
    }
}
