//! The table of the contract: what a server is told by what it advertises, where it is, and which launcher there is
//! (S1, S2, S4).

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use mcp_runtime::CallOptions;
use serde_json::{Value, json};

use super::peer::Peer;
use super::peer::Place::{self, Endpoint, ModernEndpoint, ModernProcess, Process};
use super::{capabilities, environment, state};
use crate::host::{Host, builder};

const LAUNCHER: &[u8] = b"/bin/true";

const NOTHING: &str = "";
const STATE: &str = r#""codex/sandbox-state":{"a":1e2},"codex/sandbox-state-meta":{"a":1e2},"#;
const WHOLE: &str = r#""codex/sandbox-state":{"a":1e2},"codex/sandbox-state-meta":{"a":1e2},"codex/sandbox-launcher":{"codexExecutable":"/bin/true"},"#;

/// The `_meta` of a call to such a server under such an authority.
async fn sent(capabilities: &Value, place: Place, launcher: Option<&[u8]>) -> String {
    let peer = Peer::new(place, capabilities).await;
    let mut local = environment("local").sandbox_state(state(r#"{"a":1e2}"#));
    if let Some(launcher) = launcher {
        local = local.launcher(PathBuf::from(OsStr::from_bytes(launcher)));
    }
    let builder = builder().client("host", "1").environment(local);
    let host = Host::begin(builder.server(peer.config())).settled().await;
    let called = host.call_with("t", CallOptions::new()).await;
    called.expect("whatever the server says of itself, it can be called");
    host.end().await;
    let [meta] = <[String; 1]>::try_from(peer.told()).expect("one call");
    meta
}

/// What a server advertises, where it is, the launcher, what it is told, and why.
type Row = (
    Value,
    Place,
    Option<&'static [u8]>,
    &'static str,
    &'static str,
);

fn rows() -> Vec<Row> {
    let new = || capabilities(&json!({"codex/sandbox-state": {}}));
    let old = || capabilities(&json!({"codex/sandbox-state-meta": {}}));
    let both = json!({"codex/sandbox-state": {}, "codex/sandbox-state-meta": {}});
    let some = Some(LAUNCHER);
    let mut rows = vec![
        (new(), Process, some, WHOLE, "the key"),
        (old(), Process, some, WHOLE, "its deprecated alias"),
        (capabilities(&both), Process, some, WHOLE, "both"),
        (capabilities(&json!({})), Process, some, NOTHING, "neither"),
        (
            json!({"tools": {}}),
            Process,
            some,
            NOTHING,
            "nothing experimental",
        ),
        (
            new(),
            ModernProcess,
            some,
            WHOLE,
            "a process of the other era",
        ),
        (new(), Endpoint, some, STATE, "HTTP, loopback included"),
        (old(), Endpoint, some, STATE, "HTTP, by the alias"),
        (new(), ModernEndpoint, some, STATE, "HTTP of the other era"),
        (
            json!({"tools": {}}),
            Endpoint,
            some,
            NOTHING,
            "HTTP, not opted in",
        ),
        (new(), Process, None, STATE, "no launcher is known"),
        (
            new(),
            Process,
            Some(b"/bin/false"),
            STATE,
            "the probe fails",
        ),
        (new(), Process, Some(b"/bin"), STATE, "a directory"),
        (new(), Process, Some(b"/dev/null"), STATE, "not executable"),
        (
            new(),
            Process,
            Some(b"/bin/no-such-launcher"),
            STATE,
            "not there",
        ),
        (new(), Process, Some(b"bin/true"), STATE, "not absolute"),
        (new(), Process, Some(b"true"), STATE, "never searched for"),
        (new(), Process, Some(b""), STATE, "no path"),
        (new(), Process, Some(b"/bin/\xff"), STATE, "not UTF-8"),
    ];
    for odd in [json!(null), json!(true), json!("x"), json!(7), json!([])] {
        let odd = capabilities(&json!({"codex/sandbox-state": odd}));
        rows.push((odd, Process, some, WHOLE, "the presence of the key counts"));
    }
    let wrong = [
        (
            json!({"codex/sandbox-launcher": {}}),
            "the launcher's key alone",
        ),
        (json!({"Codex/Sandbox-State": {}}), "another case"),
        (json!({"codex/sandbox-states": {}}), "another name"),
        (json!({"more": {"codex/sandbox-state": {}}}), "too deep"),
        (json!(true), "no object"),
        (json!(null), "no object"),
        (json!(["codex/sandbox-state"]), "no object"),
        (json!("codex/sandbox-state"), "no object"),
    ];
    for (experimental, why) in wrong {
        rows.push((capabilities(&experimental), Process, some, NOTHING, why));
    }
    let key = json!({"codex/sandbox-state": {}});
    for place in ["extensions", "tools", "Experimental"] {
        let elsewhere = json!({place: key});
        rows.push((elsewhere, Process, some, NOTHING, "the wrong place"));
    }
    rows.push((key, Process, some, NOTHING, "not under `experimental`"));
    rows
}

#[tokio::test]
async fn the_table_of_the_contract() {
    let mut snapshot = String::new();
    for (capabilities, place, launcher, expected, why) in rows() {
        let meta = sent(&capabilities, place, launcher).await;
        let row = format!("{why}, {place:?}: {capabilities}");
        let rest = meta.strip_prefix(&format!("{{{expected}"));
        let rest = rest.unwrap_or_else(|| panic!("{row}: {meta}"));
        // What the other era says with each request stands between.
        assert!(!rest.contains("codex/"), "{row}: {meta}");
        assert!(
            place.is_modern() || rest == "\"progressToken\":1}",
            "{row}: {meta}"
        );
        let _ = writeln!(snapshot, "{row}\n  {meta}");
    }
    insta::assert_snapshot!(snapshot);
}
