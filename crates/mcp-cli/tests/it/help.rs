//! What the program says of itself.

use crate::program::run;

#[test]
fn help_says_what_there_is_and_what_exit_statuses_mean() {
    insta::assert_snapshot!("help", run(["--help"]).quietly(0).stdout);
    insta::assert_snapshot!("help_tools", run(["tools", "--help"]).quietly(0).stdout);
    insta::assert_snapshot!("help_call", run(["call", "--help"]).quietly(0).stdout);
    for command in ["resources", "read", "prompts", "prompt"] {
        let help = run([command, "--help"]).quietly(0).stdout;
        insta::assert_snapshot!(format!("help_{command}"), help);
    }
    insta::assert_snapshot!("help_demo", run(["demo", "--help"]).quietly(0).stdout);
}

#[test]
fn a_wrong_command_line_is_status_2() {
    for args in [
        &[][..],
        &["nope"],
        &["tools"],
        &["tools", "--config"],
        &["call", "--config", "x", "--server", "a"],
        &["call", "--config", "x", "--tool", "a"],
        &[
            "call", "--config", "x", "a/b", "--server", "a", "--tool", "b",
        ],
        &["call", "--config", "x", "a/b", "--timeout", "0"],
        &["demo", "extra"],
    ] {
        let ran = run(args).with(2);
        assert_eq!(ran.stdout, "", "{args:?}");
        assert_ne!(ran.stderr, "", "{args:?}");
    }
}
