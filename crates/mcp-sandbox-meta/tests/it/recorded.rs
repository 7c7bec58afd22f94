//! What a real host sent and a real launcher took (S2, S3, S7).

use std::collections::BTreeMap;
use std::ffi::OsStr;

use mcp_sandbox_meta::{RawMeta, SandboxCommand, SandboxMetadata};
use serde::Deserialize;
use serde_json::value::RawValue;

#[derive(Deserialize)]
struct Call<'a> {
    server: &'a str,
    #[serde(borrow)]
    params: Params<'a>,
}

#[derive(Deserialize)]
struct Params<'a> {
    #[serde(borrow, rename = "_meta")]
    meta: &'a RawValue,
}

/// Every recorded call reads as metadata, and what we would send reads the same to its server.
#[test]
fn recorded_calls_are_read_and_written_again() {
    let recorded = include_str!("../fixtures/tools_call_params.json");
    let scenarios: BTreeMap<&str, Vec<Call<'_>>> = serde_json::from_str(recorded).unwrap();
    let mut with_state = 0;
    for (scenario, calls) in scenarios {
        for call in calls {
            let text = call.params.meta.get();
            let metadata = SandboxMetadata::from_meta(call.params.meta).expect(scenario);
            assert_eq!(
                metadata.is_none(),
                scenario.starts_with("caps_neither"),
                "{scenario}"
            );
            let Some(metadata) = metadata else { continue };
            with_state += 1;
            let remote = call.server == "rem";
            assert_eq!(
                metadata.launcher().is_none(),
                remote,
                "{scenario}: S4, {}",
                call.server
            );

            let mut meta = RawMeta::new();
            metadata.insert_into(&mut meta);
            let written = serde_json::to_string(&meta).unwrap();
            let state = metadata.state().as_raw().get();
            assert_eq!(text.matches(state).count(), 2, "{scenario}: a whole copy");
            assert_eq!(
                written.matches(state).count(),
                2,
                "{scenario}: a whole copy"
            );
            let in_order = |text: &str| {
                [
                    "\"codex/sandbox-state\"",
                    "\"codex/sandbox-state-meta\"",
                    "\"codex/sandbox-launcher\"",
                ]
                .iter()
                .filter_map(|key| text.find(key))
                .is_sorted()
            };
            assert!(in_order(text) && in_order(&written), "{scenario}: order");
        }
    }
    assert_eq!(with_state, 17);
}

#[derive(Deserialize)]
struct Invocation {
    case: String,
    argv: Vec<String>,
}

/// The argument vectors that the real launcher was given are the ones a `SandboxCommand` makes.
#[test]
fn commands_are_what_the_launcher_was_recorded_with() {
    let recorded = include_str!("../fixtures/sandbox_cli_cases.json");
    let invocations: Vec<Invocation> = serde_json::from_str(recorded).unwrap();
    let mut made = 0;
    for Invocation { case, argv } in invocations {
        let [_, _, state, dashes, program, args @ ..] = argv.as_slice() else {
            continue;
        };
        // Options of the launcher's own are not ours to give, and what is no JSON has not come through `_meta`.
        let Ok(state) = serde_json::from_str(state) else {
            continue;
        };
        if dashes != "--" {
            continue;
        }
        let metadata = super::metadata("0", Some("/usr/local/bin/codex"));
        let launcher = metadata.launcher().unwrap().clone();
        let metadata = SandboxMetadata::new(state).with_launcher(launcher);
        let command = SandboxCommand::new(Some(&metadata), program).unwrap();
        let command = command.args(args);
        assert_eq!(command.argv().next().unwrap(), "/usr/local/bin/codex");
        assert!(
            command.argv().skip(1).eq(argv.iter().map(OsStr::new)),
            "{case}"
        );
        made += 1;
    }
    assert_eq!(made, 51);
}
