//! Commands are confined or not made at all.

use std::process::Command;

use mcp_sandbox_meta::{SandboxCommand, SandboxCommandError, SandboxMetadata};

use super::metadata;

#[track_caller]
fn check_refused(metadata: Option<&SandboxMetadata>, expected: SandboxCommandError) {
    let refused = SandboxCommand::new(metadata, "make").expect_err("nothing may run");
    assert_eq!(refused, expected);
}

/// S7
#[test]
fn a_command_goes_through_the_launcher_with_the_whole_state() {
    let state = r#"{ "z": 1e2, "a": 18446744073709551616 }"#;
    let authority = metadata(state, Some("/opt/codex"));
    let command = SandboxCommand::new(Some(&authority), "make")
        .unwrap()
        .arg("--sandbox-state-json")
        .args(["", "--", "{}"]);
    assert!(command.is_confined());
    let expected = [
        "/opt/codex",
        "sandbox",
        "--sandbox-state-json",
        state,
        "--",
        "make",
        "--sandbox-state-json",
        "",
        "--",
        "{}",
    ];
    assert!(command.argv().eq(expected), "{command:?}");

    let of_std: Command = command.clone().into();
    assert_eq!(of_std.get_program(), "/opt/codex");
    assert!(of_std.get_args().eq(expected[1..].iter().copied()));
    #[cfg(feature = "tokio")]
    {
        let of_tokio: tokio::process::Command = command.into();
        assert!(
            of_tokio
                .as_std()
                .get_args()
                .eq(expected[1..].iter().copied())
        );
    }
}

/// S7
#[test]
fn without_authority_or_launcher_there_is_no_command() {
    check_refused(None, SandboxCommandError::NoMetadata);
    check_refused(Some(&metadata("{}", None)), SandboxCommandError::NoLauncher);
}

/// S7
#[test]
fn only_the_operators_opt_out_runs_a_program_unconfined_and_only_without_a_launcher() {
    let without = metadata("{}", None);
    for metadata in [None, Some(&without)] {
        let command =
            SandboxCommand::new_or_unsandboxed_by_operator_opt_out(metadata, "make").unwrap();
        assert!(!command.is_confined());
        assert!(command.arg("-j").argv().eq(["make", "-j"]));
    }
    let with = metadata("{}", Some("/opt/codex"));
    let command =
        SandboxCommand::new_or_unsandboxed_by_operator_opt_out(Some(&with), "make").unwrap();
    assert!(command.is_confined());
    assert_eq!(command.argv().next().unwrap(), "/opt/codex");
}

/// S7
#[test]
fn a_state_that_no_argument_can_hold_is_an_error_even_after_an_opt_out() {
    const LIMIT: usize = 131_071;
    let state = |bytes: usize| format!("\"{}\"", "x".repeat(bytes - 2));
    let authority = metadata(&state(LIMIT), Some("/bin/echo"));
    let command = SandboxCommand::new(Some(&authority), "make").unwrap();
    let output = Command::from(command)
        .output()
        .expect("the longest argument can be passed");
    assert!(output.status.success() && output.stdout.len() > LIMIT);

    let authority = metadata(&state(LIMIT + 1), Some("/bin/echo"));
    let expected = SandboxCommandError::StateTooLarge {
        bytes: LIMIT + 1,
        limit: LIMIT,
    };
    check_refused(Some(&authority), expected);
    let refused = SandboxCommand::new_or_unsandboxed_by_operator_opt_out(Some(&authority), "make");
    assert_eq!(refused.unwrap_err(), expected);
}

/// A bare name would be looked up, and that is the launcher's business, not ours.
#[test]
fn the_launcher_is_never_searched_for() {
    // A launcher that is named is an absolute path; one that does not exist is an error when it is started.
    let authority = metadata("{}", Some("/nonexistent/true"));
    let command = SandboxCommand::new(Some(&authority), "true").unwrap();
    let error = Command::from(command)
        .status()
        .expect_err("nothing may run");
    assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
}

#[test]
fn debug_shows_neither_state_nor_arguments() {
    let authority = metadata("\"secret\"", Some("/opt/codex"));
    let command = SandboxCommand::new(Some(&authority), "secret").unwrap();
    let shown = format!("{:?}", command.arg("secret"));
    assert!(
        shown.contains("/opt/codex") && !shown.contains("secret"),
        "{shown}"
    );
}
