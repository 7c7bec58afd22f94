//! What servers are told of the sandbox under which a call is made (S1, S2, S3, S6, S8).

use mcp_runtime::{
    CallOptions, Environment, EnvironmentId, McpRuntime, MultiEnvironment, SandboxState,
};
use mcp_testkit::{Handshake, Script, ServerProcess};
use serde_json::{Value, json};

use crate::host::{Host, SERVER, at_once, raw, stdio};

/// A state that nobody but its consumer could make sense of.
const STATE: &str = r#"{"z":1e2,"a":[18446744073709551616,null],"z":"again"}"#;

fn state(json: &str) -> SandboxState {
    serde_json::from_str(json).expect("JSON")
}

fn environment(id: &str) -> Environment {
    Environment::new(id.parse().expect("an id"))
}

/// A server with a tool `t` that says this under `experimental`.
fn server(experimental: &Value) -> ServerProcess {
    let capabilities = json!({"tools": {}, "experimental": experimental});
    let handshake = Handshake::new().capabilities(capabilities);
    Script::new().handshake(handshake).tool_named("t").command()
}

/// The `_meta` of every call that a server got, as it came, without the request's own token.
fn told(process: &ServerProcess) -> Vec<String> {
    let lines = process.log().lines();
    let calls = lines.iter().filter(|line| line.contains("\"tools/call\""));
    let meta = calls.map(|line| {
        let (_, meta) = line.split_once("\"_meta\":").expect("a call has metadata");
        let (meta, _) = meta.split_once("\"progressToken\"").expect("and a token");
        meta.trim_end_matches(',').to_owned()
    });
    meta.collect()
}

fn both(state: &str) -> String {
    format!("{{\"codex/sandbox-state\":{state},\"codex/sandbox-state-meta\":{state}")
}

/// S1, S2, S3
#[tokio::test]
async fn a_server_that_opted_in_is_told_the_state_to_the_byte_and_no_other_is() {
    let rows = [
        (json!({"codex/sandbox-state": {}}), true, "the key"),
        (
            json!({"codex/sandbox-state-meta": {}}),
            true,
            "its older name",
        ),
        (json!({"codex/sandbox-state": null}), true, "any value"),
        (
            json!({"codex/sandbox-launcher": {}}),
            false,
            "the launcher's alone",
        ),
        (
            json!({"Codex/Sandbox-State": {}}),
            false,
            "another spelling",
        ),
        (json!({}), false, "nothing"),
        (json!(true), false, "no object"),
    ];
    for (experimental, tells, why) in rows {
        let process = server(&experimental);
        let local = environment("local").sandbox_state(state(STATE));
        let builder = McpRuntime::builder().environment(local);
        let host = Host::begin(builder.server(stdio(SERVER, &process)));
        at_once(host.runtime.settled()).await;
        let forged = raw(r#"{"codex/sandbox-state":{"forged":1},"mine":1}"#);
        let options = CallOptions::new().meta(forged);
        host.call_with("t", options).await.unwrap();
        host.end().await;
        let expected = if tells {
            format!("{{\"mine\":1,{}", &both(STATE)[1..])
        } else {
            "{\"mine\":1".to_owned()
        };
        assert_eq!(told(&process), [expected], "{why}");
    }
}

/// S8, B1
#[tokio::test]
async fn a_call_carries_the_state_that_its_binding_captured() {
    let process = server(&json!({"codex/sandbox-state": {}}));
    let local: EnvironmentId = "local".parse().unwrap();
    let builder = McpRuntime::builder().environment(Environment::new(local.clone()));
    let host = Host::begin(builder.server(stdio(SERVER, &process)));
    at_once(host.runtime.settled()).await;
    let early = host.prepare("t");
    host.runtime
        .set_sandbox_state(&local, Some(state("[1]")))
        .unwrap();
    let late = host.prepare("t");
    host.runtime.set_sandbox_state(&local, None).unwrap();
    for call in [early, late, host.prepare("t")] {
        at_once(call.execute(CallOptions::new())).await.unwrap();
    }
    host.end().await;
    assert_eq!(
        told(&process),
        ["{".to_owned(), both("[1]"), "{".to_owned()]
    );
    let unknown = host
        .runtime
        .set_sandbox_state(&"nowhere".parse().unwrap(), None);
    assert!(unknown.unwrap_err().to_string().contains("nowhere"));
}

/// S8: a server of the host's lives under the primary environment, another under its own, never the other way round.
#[tokio::test]
async fn each_environment_has_its_own_state() {
    let opted_in = || server(&json!({"codex/sandbox-state": {}}));
    let (of_host, of_box) = (opted_in(), opted_in());
    let local = environment("local").sandbox_state(state("\"local\""));
    let devbox = environment("devbox").sandbox_state(state("\"devbox\""));
    let builder = McpRuntime::builder()
        .multi_environment(MultiEnvironment::On)
        .environment(local)
        .environment(devbox.server(stdio(SERVER, &of_box)))
        .server(stdio(SERVER, &of_host));
    let host = Host::begin(builder);
    at_once(host.runtime.settled()).await;
    let binding = host.runtime.capture();
    for environment in [None, Some("devbox")] {
        let call = binding.prepare_tool(SERVER, environment, "t").unwrap();
        at_once(call.execute(CallOptions::new())).await.unwrap();
    }
    host.end().await;
    assert_eq!(told(&of_host), [both("\"local\"")]);
    assert_eq!(told(&of_box), [both("\"devbox\"")]);
}
