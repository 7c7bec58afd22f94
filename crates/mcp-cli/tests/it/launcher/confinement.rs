//! What a command may do under the state of its call (S2, S3, S6 to S8).

use std::net::TcpListener;

use serde_json::json;

use super::host::Host;
use super::said::{Left, Said};
use super::workplace::Permission;

const DENIED: &str = "Read-only file system";

/// Writes a file there.
fn write(host: &mut Host, folder: &str) -> Said {
    host.run(&format!("echo written > {folder}/file"))
}

/// S3, S7
#[test]
#[ignore = "run by cargo xtask interop"]
fn a_command_writes_where_its_state_allows_it() {
    let mut host = Host::start(Permission::ReadOnly);
    let file = host.workplace().project().join("file");
    let outside = host.workplace().outside().join("file");
    write(&mut host, ".").failed(DENIED);
    write(&mut host, "../outside").failed(DENIED);
    assert!(!file.exists() && !outside.exists());

    host.allow(Permission::WorkspaceWrite);
    write(&mut host, ".").with_status(0);
    write(&mut host, "../outside").failed(DENIED);
    assert!(file.exists() && !outside.exists());

    // Nothing but the state kept it from that.
    host.allow(Permission::Everything);
    write(&mut host, "../outside").with_status(0);
    assert!(outside.exists());
    host.end();
}

/// S7
#[test]
#[ignore = "run by cargo xtask interop"]
fn a_command_connects_where_its_state_allows_it() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("its address").port();
    let connect = format!("bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port} && echo connected'");
    let mut host = Host::start(Permission::ReadOnly);
    for (permission, connects) in [
        (Permission::ReadOnly, false),
        (Permission::WorkspaceWrite, false),
        (Permission::ReadOnlyWithNetwork, true),
        (Permission::Everything, true),
    ] {
        host.allow(permission);
        let said = host.run(&connect);
        if connects {
            assert_eq!(said.with_status(0), "connected\n", "{permission:?}");
        } else {
            said.failed("Operation not permitted");
        }
    }
    host.end();
}

/// S7
#[test]
#[ignore = "run by cargo xtask interop"]
fn status_output_and_folder_are_those_of_the_command() {
    let mut host = Host::start(Permission::ReadOnly);
    let project = host.workplace().project();
    for permission in [Permission::ReadOnly, Permission::Everything] {
        host.allow(permission);
        for (line, status) in [("exit 0", 0), ("exit 7", 7), ("kill -9 $$", 137)] {
            assert_eq!(host.run(line).with_status(status), "", "{line}");
        }
        let expected = Left {
            status: Some(0),
            output: format!("{}\n", project.display()),
            error: "told\n".to_owned(),
        };
        assert_eq!(host.run("pwd; echo told >&2").ran(), expected);
    }
    host.end();
}

/// S6, S7
#[test]
#[ignore = "run by cargo xtask interop"]
fn nobody_but_the_host_allows_anything() {
    let mut host = Host::start(Permission::ReadOnly);
    let everything = host.workplace().state(Permission::Everything);
    let claim = json!({
        "codex/sandbox-state": everything,
        "codex/sandbox-state-meta": everything,
        "codex/sandbox-launcher": {"codexExecutable": "/bin/sh"},
    });
    let mut arguments = claim.clone();
    arguments["argv"] = json!(["/bin/sh", "-c", "echo written > ../outside/file"]);
    arguments["_meta"] = claim.clone();
    host.call("run", &arguments, &claim).failed(DENIED);
    assert!(!host.workplace().outside().join("file").exists());
    host.end();
}
