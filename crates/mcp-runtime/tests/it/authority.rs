//! What servers are told of the authority under which a call is made (S1 to S4, S6, S8).

mod captured;
mod connection;
mod foreign;
#[cfg(unix)]
mod launcher;
mod peer;
#[cfg(unix)]
mod recorded;
#[cfg(unix)]
mod scenario;
#[cfg(unix)]
mod stub;

use mcp_runtime::{Environment, SandboxState};
use mcp_testkit::{Handshake, Script, ServerProcess};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// A state that nobody but its consumer could make sense of.
const STATE: &str = r#"{"z":1e2,"a":[18446744073709551616,null],"z":"again"}"#;

fn state(json: &str) -> SandboxState {
    serde_json::from_str(json).expect("JSON")
}

fn environment(id: &str) -> Environment {
    Environment::new(id.parse().expect("an id"))
}

/// The capabilities of a server that says this under `experimental`.
fn capabilities(experimental: &Value) -> Value {
    json!({"tools": {}, "experimental": experimental})
}

/// A process with a tool `t` that opted in.
fn opted_in() -> Script {
    let experimental = json!({"codex/sandbox-state": {}});
    let handshake = Handshake::new().capabilities(capabilities(&experimental));
    Script::new().handshake(handshake).tool_named("t")
}

/// The `_meta` of every call that a process got, as it came.
fn told(process: &ServerProcess) -> Vec<String> {
    let lines = process.log().lines();
    let calls = lines.iter().filter(|line| line.contains("\"tools/call\""));
    calls.map(|line| meta_of(line)).collect()
}

/// The `_meta` of a call, as it came but for the number of its token, which comes last.
fn meta_of(call: &str) -> String {
    #[derive(Deserialize)]
    struct Call<'a> {
        #[serde(borrow)]
        params: Params<'a>,
    }
    #[derive(Deserialize)]
    struct Params<'a> {
        #[serde(borrow, rename = "_meta")]
        meta: &'a RawValue,
    }
    let call: Call<'_> = serde_json::from_str(call).expect("a call with metadata");
    let meta = call.params.meta.get();
    let (before, token) = meta.rsplit_once("\"progressToken\":").expect("a token");
    let token = token.strip_suffix('}').expect("the last member");
    assert!(token.bytes().all(|byte| byte.is_ascii_digit()), "{meta}");
    format!("{before}\"progressToken\":1}}")
}

/// The `_meta` of a call under this authority, after these members.
fn meta(others: &str, state: Option<&str>, launcher: Option<&str>) -> String {
    let mut meta = format!("{{{others}");
    if let Some(state) = state {
        meta += &format!("\"codex/sandbox-state\":{state},\"codex/sandbox-state-meta\":{state},");
    }
    if let Some(launcher) = launcher {
        meta += &format!("\"codex/sandbox-launcher\":{{\"codexExecutable\":\"{launcher}\"}},");
    }
    meta + "\"progressToken\":1}"
}
