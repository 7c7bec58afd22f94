//! What a command executor launches, and what it refuses to (R4).

use super::*;
use crate::executor::Executor;

fn docs() -> StdioTransport {
    StdioTransport::new("docs-server").args(["--name", "my docs"])
}

fn executor(quoting: Quoting) -> CommandExecutor {
    CommandExecutor::new(["far", "box", "--"], quoting).unwrap()
}

/// The command line that starts a server.
#[track_caller]
fn check(quoting: Quoting, server: &StdioTransport, cwd: Option<&str>, expected: &[&str]) {
    let launch = executor(quoting)
        .launch(server, cwd.map(Path::new))
        .unwrap();
    assert_eq!(launch.program, "far");
    assert_eq!(launch.args, expected);
    // Of the far side, nothing is set on this one.
    assert_eq!((launch.env.len(), launch.env_passed.len()), (0, 0));
    assert_eq!(launch.cwd, None);
    assert_eq!(launch.locality, EnvironmentLocality::Remote);
}

#[track_caller]
fn check_refused(server: &StdioTransport, cwd: Option<&str>, expected: &ExecutorError) {
    let refused = executor(Quoting::None).launch(server, cwd.map(Path::new));
    assert_eq!(&refused.unwrap_err(), expected);
}

/// R4
#[test]
fn a_command_is_followed_by_what_runs_on_its_far_side() {
    let plain = ["box", "--", "docs-server", "--name", "my docs"];
    check(Quoting::None, &docs(), None, &plain);
    let quoted = ["box", "--", "'docs-server' '--name' 'my docs'"];
    check(Quoting::PosixSh, &docs(), None, &quoted);
}

/// R4
#[test]
fn directory_and_variables_are_set_on_the_far_side() {
    let server = docs().env("A", "1").env("B", "x y").env_in_argv(true);
    let expected = [
        "box",
        "--",
        "env",
        "-C",
        "/srv",
        "A=1",
        "B=x y",
        "docs-server",
        "--name",
        "my docs",
    ];
    check(Quoting::None, &server, Some("/srv"), &expected);
    let expected = [
        "box",
        "--",
        "env",
        "-C",
        "/srv",
        "docs-server",
        "--name",
        "my docs",
    ];
    check(Quoting::None, &docs(), Some("/srv"), &expected);
    let quoted = "'env' '-C' '/it'\\''s' 'A=1' 'B=x y' 'docs-server' '--name' 'my docs'";
    check(
        Quoting::PosixSh,
        &server,
        Some("/it's"),
        &["box", "--", quoted],
    );
}

/// R4
#[test]
fn a_variable_of_this_process_is_passed_on_where_it_is_set_and_what_is_set_wins() {
    let path = format!("PATH={}", env::var("PATH").unwrap());
    let server = docs()
        .env("PATH", "/far/bin")
        .env_var("PATH")
        .env_var("NEVER_SET_HERE");
    let expected = [
        "box",
        "--",
        "env",
        &path,
        "PATH=/far/bin",
        "docs-server",
        "--name",
        "my docs",
    ];
    check(Quoting::None, &server.env_in_argv(true), None, &expected);
}

/// R4
#[test]
fn a_value_is_not_shown_in_process_lists_unasked() {
    for server in [docs().env("TOKEN", "x"), docs().env_var("TOKEN")] {
        let name = "TOKEN".to_owned();
        check_refused(&server, None, &ExecutorError::EnvInArgv { name });
    }
    let refusal = executor(Quoting::None).launch(&docs().env("TOKEN", "hunter2"), None);
    let message = refusal.unwrap_err().to_string();
    assert!(message.contains("`\"env_in_argv\": true`"), "{message}");
    assert!(
        message.contains("`TOKEN`") && !message.contains("hunter2"),
        "{message}"
    );
}

#[test]
fn what_env_would_misunderstand_is_refused() {
    for name in ["", "-i", "A=B"] {
        let (server, name) = (docs().env(name, "1").env_in_argv(true), name.to_owned());
        check_refused(&server, None, &ExecutorError::VariableName { name });
    }
    for command in ["-docs", "/opt/a=b/docs"] {
        let server = StdioTransport::new(command);
        check(Quoting::None, &server, None, &["box", "--", command]);
        let command = command.to_owned();
        check_refused(&server, Some("/srv"), &ExecutorError::Command { command });
    }
}

#[test]
fn a_command_has_a_program() {
    for argv in [&[][..], &[""], &["  ", "x"]] {
        let refused = CommandExecutor::new(argv.iter().copied(), Quoting::None);
        assert_eq!(refused, Err(EmptyCommand), "{argv:?}");
    }
}

/// C5
#[test]
fn executors_of_other_commands_are_others() {
    let of = |argv: &[&str], quoting| {
        let command = CommandExecutor::new(argv.iter().copied(), quoting).unwrap();
        Executor::from(command).identity()
    };
    let identities = [
        Executor::Local.identity(),
        of(&["local"], Quoting::None),
        of(&["far", "box"], Quoting::None),
        of(&["far", "box"], Quoting::PosixSh),
        of(&["far box"], Quoting::None),
        of(&["far", "box", ""], Quoting::None),
        of(&["far", "b", "ox"], Quoting::None),
    ];
    for (at, one) in identities.iter().enumerate() {
        assert!(!identities[..at].contains(one), "{one}");
    }
}

#[test]
fn debug_shows_no_argument() {
    let shown = format!(
        "{:?}",
        CommandExecutor::new(["far", "--token=hunter2"], Quoting::None)
    );
    assert!(
        shown.contains("far") && !shown.contains("hunter2"),
        "{shown}"
    );
}
