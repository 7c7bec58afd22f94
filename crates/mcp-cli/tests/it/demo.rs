//! `mcp-runtime demo`

use std::time::Duration;

use tokio::time::Instant;

use crate::program::{command, run};

/// U3
#[test]
fn the_demo_needs_nothing_and_shows_both_names() {
    let begun = Instant::now();
    let ran = run(["demo"]).quietly(0);
    assert!(
        begun.elapsed() < Duration::from_secs(5),
        "{:?}",
        begun.elapsed()
    );
    // Golden names: they are a function of server, environment and tool (K4).
    for name in [
        "mcp__docs_at_local_xyenwwpu6ir__search",
        "mcp__docs_at_devbox_xytskfsbghy__search",
    ] {
        assert!(ran.stdout.contains(name), "{}", ran.stdout);
    }
    assert!(ran.stdout.contains("no process is left"), "{}", ran.stdout);
    assert!(!ran.stdout.contains('\u{1b}'), "no colours into a pipe");
}

/// U3
#[test]
fn the_demo_tells_programs_what_it_checked() {
    let story = run(["demo", "--json"]).quietly(0).json();
    assert_eq!(story["ok"], true);
    let steps = story["steps"].as_array().expect("steps");
    let checks = steps
        .iter()
        .flat_map(|step| step["checks"].as_array().expect("checks"));
    assert!(checks.clone().count() >= 10);
    assert!(checks.clone().all(|check| check["ok"] == true));
    let servers = steps[0]["servers"].as_array().expect("servers");
    let fates: Vec<_> = servers
        .iter()
        .map(|server| {
            (
                &server["server"],
                &server["environment_id"],
                &server["status"],
            )
        })
        .map(|(server, environment, status)| format!("{server} {environment} {status}"))
        .collect();
    assert_eq!(
        fates,
        [
            r#""docs" "devbox" "ready""#,
            r#""docs" "local" "ready""#,
            r#""missing" "local" "failed""#,
        ]
    );
    let timeout = steps
        .iter()
        .find_map(|step| step.get("error"))
        .expect("a call that failed");
    assert_eq!(timeout["code"], "request_timeout");
}

#[test]
fn a_demo_that_cannot_be_set_up_says_why() {
    let mut command = command(["demo"]);
    for variable in ["TMPDIR", "TMP", "TEMP"] {
        command.env(variable, "/no/such/directory");
    }
    let output = command.output().expect("it ends");
    assert_eq!(output.status.code(), Some(5));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("the demo cannot be set up: "), "{stderr}");
}
