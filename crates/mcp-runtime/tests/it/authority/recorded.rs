//! What a real host sent is what we send in the same situation, byte for byte.
//!
//! The fixture was indented and normalised: the token is 1, and paths are those of nobody's machine. So is what we send
//! before it is compared.

use std::collections::BTreeMap;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use mcp_runtime::CallOptions;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::peer::{Peer, Place};
use super::{capabilities, environment, state};
use crate::host::{Host, builder, raw};

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
    arguments: &'a RawValue,
}

#[derive(Deserialize)]
struct Meta<'a> {
    #[serde(borrow, rename = "codex/sandbox-state")]
    state: Option<&'a RawValue>,
    #[serde(rename = "codex/sandbox-launcher")]
    launcher: Option<Launcher>,
}

#[derive(Deserialize)]
struct Launcher {
    #[serde(rename = "codexExecutable")]
    executable: String,
}

/// JSON without the white space between its tokens.
fn compact(json: &str) -> String {
    let (mut inside, mut escaped) = (false, false);
    let keep = |character: &char| {
        let kept = inside || !character.is_ascii_whitespace();
        if *character == '"' && !escaped {
            inside = !inside;
        }
        escaped = *character == '\\' && !escaped;
        kept
    };
    json.chars().filter(keep).collect()
}

/// What the server of the scenario advertised.
fn advertised(scenario: &str) -> Value {
    let (key, alias) = ("codex/sandbox-state", "codex/sandbox-state-meta");
    let experimental = match scenario.split("__").next() {
        Some("caps_both") => json!({key: {}, alias: {}}),
        Some("caps_neither") => json!({}),
        Some("caps_only_state_meta") => json!({alias: {}}),
        // The others are about something else, and opted in.
        _ => json!({key: {}}),
    };
    capabilities(&experimental)
}

/// A launcher as that of the scenario was: by its own name, by another, or by way of a link.
fn launcher(scenario: &str, folder: &TempDir) -> PathBuf {
    let target = PathBuf::from("/bin/true");
    match scenario {
        "launch_symlink" | "launch_renamed_binary" => {
            let link = folder.path().join(scenario);
            symlink(target, &link).expect("a link");
            link
        }
        _ => target,
    }
}

/// Makes the call of the scenario, and compares all of its `_meta`.
async fn check(scenario: &str, call: &Call<'_>, any_state: &str) {
    let recorded = compact(call.params.meta.get());
    let meta: Meta<'_> = serde_json::from_str(&recorded).expect(scenario);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let launcher = launcher(scenario, &folder);
    // The server `rem` was behind an executor: what it could not use either was a launcher.
    let place = match call.server {
        "rem" => Place::Endpoint,
        _ => Place::Process,
    };
    let peer = Peer::new(place, &advertised(scenario)).await;
    let local = environment("local")
        .sandbox_state(state(meta.state.map_or(any_state, RawValue::get)))
        .launcher(&launcher);
    let builder = builder().environment(local);
    let host = Host::begin(builder.server(peer.config())).settled().await;

    // The host's own members come first.
    let own = recorded.split(r#""codex/sandbox"#).next();
    let own = own.and_then(|own| own.split(r#""progressToken""#).next());
    let own = own.map(|own| format!("{}}}", own.trim_end_matches(',')));
    let options = CallOptions::new()
        .meta(raw(&own.expect("an object")))
        .arguments(call.params.arguments.to_owned());
    host.call_with("t", options).await.expect(scenario);
    host.end().await;

    let executable = launcher.to_str().expect("UTF-8");
    let normal = meta.launcher.map(|launcher| launcher.executable);
    let told = peer.told();
    let [sent] = told.as_slice() else {
        panic!("{scenario}: one call, not {told:?}")
    };
    let sent = match &normal {
        Some(normal) => sent.replace(&format!("\"{executable}\""), &format!("\"{normal}\"")),
        None => sent.clone(),
    };
    assert_eq!(sent, recorded, "{scenario}, {}", call.server);
}

/// S2, S3, S4
#[tokio::test]
async fn calls_are_what_a_real_host_sent() {
    let recorded = include_str!("../../fixtures/tools_call_params.json");
    let scenarios: BTreeMap<&str, Vec<Call<'_>>> = serde_json::from_str(recorded).expect("JSON");
    let any = &scenarios["caps_both__read-only"][0];
    let any: Meta<'_> = serde_json::from_str(any.params.meta.get()).expect("metadata");
    let any_state = compact(any.state.expect("a state").get());
    let mut calls = 0;
    for (scenario, recorded) in &scenarios {
        for call in recorded {
            Box::pin(check(scenario, call, &any_state)).await;
            calls += 1;
        }
    }
    assert_eq!((scenarios.len(), calls), (18, 20));
}
