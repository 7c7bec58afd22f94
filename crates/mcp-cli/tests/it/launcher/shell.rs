//! A process that outlives its call, under the authority of the call that started it (S7).

use super::host::Host;
use super::workplace::Permission;

const REFUSED: &str = "the authority changed: another sandbox state";

/// S7
#[test]
#[ignore = "run by cargo xtask interop"]
fn a_shell_is_used_under_the_authority_that_it_was_started_under() {
    let mut host = Host::start(Permission::WorkspaceWrite);
    host.shell("kept=17; echo $kept > file").with_status(0);
    assert_eq!(
        host.shell("cat file; echo $kept").with_status(0),
        "17\n17\n"
    );
    assert!(host.is_busy(), "it stays");

    host.allow(Permission::ReadOnly);
    host.shell("echo $kept > file").refused(REFUSED);
    host.settles();
    let other = host.shell("echo \"<$kept>\"; echo 18 > file");
    other.failed("Read-only file system");
    assert_eq!(host.shell("cat file").with_status(0), "17\n");

    // From nothing to something, and back.
    host.allow(Permission::Everything);
    host.shell("echo 19 > file").refused(REFUSED);
    host.shell("echo 20 > file").with_status(0);
    assert!(host.is_busy(), "unconfined, it stays, too");
    host.allow(Permission::ReadOnly);
    host.shell("echo 21 > file").refused(REFUSED);
    host.settles();
    assert_eq!(host.shell("cat file").with_status(0), "20\n");
    host.end();
}
