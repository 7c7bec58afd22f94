//! The authority of a call is that of the owning environment, as its binding captured it (S8, B1).

use mcp_runtime::{CallOptions, EnvironmentId, Era, MultiEnvironment};
use mcp_testkit::{Action, Rule, Script};
use serde_json::json;

use super::{STATE, environment, meta, opted_in, state, told};
use crate::host::{Host, SERVER, at_once, builder, logged, raw, stdio};

/// S3
#[tokio::test]
async fn a_state_is_sent_to_the_byte() {
    let process = opted_in().command();
    let local = environment("local").sandbox_state(state(STATE));
    let builder = builder().environment(local);
    let host = Host::begin(builder.server(stdio(SERVER, &process)));
    let host = host.settled().await;
    let options = CallOptions::new().meta(raw(r#"{"mine":1}"#));
    host.call_with("t", options).await.unwrap();
    host.end().await;
    assert_eq!(told(&process), [meta("\"mine\":1,", Some(STATE), None)]);
}

#[tokio::test]
async fn a_call_carries_the_state_that_its_binding_captured() {
    let process = opted_in().command();
    let builder = builder().environment(environment("local"));
    let host = Host::begin(builder.server(stdio(SERVER, &process)));
    let host = host.settled().await;
    let (local, runtime) = (id("local"), &host.runtime);
    let early = host.prepare("t");
    runtime
        .set_sandbox_state(&local, Some(state("[1]")))
        .unwrap();
    let late = host.prepare("t");
    runtime.set_sandbox_state(&local, None).unwrap();
    for call in [early, late, host.prepare("t")] {
        at_once(call.execute(CallOptions::new())).await.unwrap();
    }
    let unknown = runtime.set_sandbox_state(&id("nowhere"), None);
    assert!(unknown.unwrap_err().to_string().contains("nowhere"));
    host.end().await;
    let (without, with) = (meta("", None, None), meta("", Some("[1]"), None));
    assert_eq!(told(&process), [without.clone(), with, without]);
}

#[cfg(unix)]
#[tokio::test]
async fn a_call_names_the_launcher_that_its_binding_captured() {
    let process = opted_in().command();
    let local = environment("local").sandbox_state(state("0"));
    let builder = builder().environment(local.launcher("/bin/true"));
    let host = Host::begin(builder.server(stdio(SERVER, &process)));
    let host = host.settled().await;
    let (local, runtime) = (id("local"), &host.runtime);
    let early = host.prepare("t");
    runtime.set_launcher(&local, None).unwrap();
    let without = host.prepare("t");
    runtime
        .set_launcher(&local, Some("/bin/echo".into()))
        .unwrap();
    for call in [early, without, host.prepare("t")] {
        at_once(call.execute(CallOptions::new())).await.unwrap();
    }
    let unknown = runtime.set_launcher(&id("nowhere"), None);
    assert!(unknown.unwrap_err().to_string().contains("nowhere"));
    host.end().await;
    let named = |launcher| meta("", Some("0"), launcher);
    let expected = [Some("/bin/true"), None, Some("/bin/echo")].map(named);
    assert_eq!(told(&process), expected);
}

/// A server of the host's lives under the primary environment, another under its own, never the other way round.
#[cfg(unix)]
#[tokio::test]
async fn each_environment_has_an_authority_of_its_own() {
    let (of_host, of_box) = (opted_in().command(), opted_in().command());
    let local = environment("local").sandbox_state(state("\"local\""));
    let devbox = environment("devbox").sandbox_state(state("\"devbox\""));
    let builder = builder()
        .multi_environment(MultiEnvironment::On)
        .environment(local.launcher("/bin/true"))
        .environment(devbox.launcher("/bin/echo").server(stdio(SERVER, &of_box)))
        .server(stdio(SERVER, &of_host));
    let host = Host::begin(builder).settled().await;
    let binding = host.runtime.capture();
    for environment in [None, Some("devbox")] {
        let call = binding.prepare_tool(SERVER, environment, "t").unwrap();
        at_once(call.execute(CallOptions::new())).await.unwrap();
    }
    host.end().await;
    let of_local = meta("", Some("\"local\""), Some("/bin/true"));
    let of_devbox = meta("", Some("\"devbox\""), Some("/bin/echo"));
    assert_eq!(told(&of_host), [of_local]);
    assert_eq!(told(&of_box), [of_devbox]);
}

/// B6: however often the server is asked, and whatever has changed since.
#[cfg(unix)]
#[tokio::test]
async fn every_round_of_a_call_says_the_same() {
    let again = json!({"resultType": "input_required", "requestState": "more"});
    let discovered = json!({"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}, "experimental": {"codex/sandbox-state": {}}}});
    let process = Script::new()
        .tool_named("t")
        .rule(Rule::on("server/discover", [Action::Result(discovered)]))
        .rule(Rule::on_tool("t", [Action::Result(again)]).times(2))
        .command();
    let local = environment("local").sandbox_state(state("0"));
    let builder = builder().environment(local.launcher("/bin/true"));
    let server = stdio(SERVER, &process).era(Era::Modern);
    let host = Host::begin(builder.server(server)).settled().await;
    let change = async {
        logged(&process.log(), |log| log.count_calls("t") > 0).await;
        let runtime = &host.runtime;
        runtime
            .set_sandbox_state(&id("local"), Some(state("1")))
            .unwrap();
        runtime.set_launcher(&id("local"), None).unwrap();
    };
    let forged = CallOptions::new().meta(raw(r#"{"codex/sandbox-state":2}"#));
    let (called, ()) = tokio::join!(host.call_with("t", forged), change);
    called.expect("an answer, in the end");
    host.end().await;
    let told = told(&process);
    assert_eq!(told.len(), 3);
    let authority = meta("", Some("0"), Some("/bin/true"));
    let authority = authority.trim_end_matches("\"progressToken\":1}");
    for meta in told {
        assert!(meta.starts_with(authority), "{meta}");
        assert_eq!(meta.matches("codex/").count(), 3, "{meta}");
    }
}

fn id(id: &str) -> EnvironmentId {
    id.parse().expect("an id")
}
