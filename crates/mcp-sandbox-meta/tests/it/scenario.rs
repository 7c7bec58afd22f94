//! Which members a server gets, by what it advertises and where it is (S1, S2, S4).

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use mcp_sandbox_meta::EnvironmentLocality::{Local, Remote};
use mcp_sandbox_meta::ServerTransport::{Http, Stdio};
use mcp_sandbox_meta::{
    EnvironmentLocality, LauncherProbe, RawMeta, SandboxMetadata, ServerTransport,
    advertises_sandbox_state, launcher_is_reachable,
};

const LAUNCHER: &[u8] = b"/bin/true";

/// What a host puts into `_meta`, put together from the parts of this crate.
async fn send(
    answer: &str,
    transport: ServerTransport,
    locality: EnvironmentLocality,
    executable: Option<&Path>,
) -> String {
    let mut meta = RawMeta::new();
    if advertises_sandbox_state(answer) {
        let mut metadata = SandboxMetadata::new(serde_json::from_str("7").expect("JSON"));
        if launcher_is_reachable(transport, locality)
            && let Some(executable) = executable
            && let Ok(launcher) = LauncherProbe::new().probe(executable).await
        {
            metadata = metadata.with_launcher(launcher);
        }
        metadata.insert_into(&mut meta);
    }
    serde_json::to_string(&meta).expect("JSON")
}

#[tokio::test]
async fn the_table_of_the_contract() {
    const NOTHING: &str = "{}";
    const STATE: &str = r#"{"codex/sandbox-state":7,"codex/sandbox-state-meta":7}"#;
    const WHOLE: &str = r#"{"codex/sandbox-state":7,"codex/sandbox-state-meta":7,"codex/sandbox-launcher":{"codexExecutable":"/bin/true"}}"#;
    let new = r#"{"codex/sandbox-state":{}}"#;
    let old = r#"{"codex/sandbox-state-meta":{}}"#;
    let both = r#"{"codex/sandbox-state":{},"codex/sandbox-state-meta":{}}"#;
    let odd = r#"{"codex/sandbox-state":null}"#;
    for (experimental, transport, locality, executable, expected, why) in [
        (new, Stdio, Local, Some(LAUNCHER), WHOLE, "the name"),
        (old, Stdio, Local, Some(LAUNCHER), WHOLE, "its alias"),
        (both, Stdio, Local, Some(LAUNCHER), WHOLE, "both"),
        (odd, Stdio, Local, Some(LAUNCHER), WHOLE, "any value"),
        ("{}", Stdio, Local, Some(LAUNCHER), NOTHING, "neither"),
        (
            r#"{"codex/sandbox-launcher":{}}"#,
            Stdio,
            Local,
            Some(LAUNCHER),
            NOTHING,
            "the launcher's name opts into nothing",
        ),
        (
            r#"{"Codex/Sandbox-State":{}}"#,
            Stdio,
            Local,
            Some(LAUNCHER),
            NOTHING,
            "wrong case",
        ),
        (
            new,
            Http,
            Local,
            Some(LAUNCHER),
            STATE,
            "HTTP, loopback included",
        ),
        (
            new,
            Stdio,
            Remote,
            Some(LAUNCHER),
            STATE,
            "behind an executor",
        ),
        (new, Stdio, Local, None, STATE, "no path is known"),
        (
            new,
            Stdio,
            Local,
            Some(b"/bin/false"),
            STATE,
            "the probe fails",
        ),
        (new, Stdio, Local, Some(b"bin/true"), STATE, "not absolute"),
        (new, Stdio, Local, Some(b"/bin/\xff"), STATE, "not UTF-8"),
    ] {
        let answer = format!(r#"{{"capabilities":{{"experimental":{experimental}}}}}"#);
        let executable = executable.map(|path| Path::new(OsStr::from_bytes(path)));
        let sent = send(&answer, transport, locality, executable).await;
        assert_eq!(sent, expected, "{why}");
    }
    for elsewhere in [
        format!(r#"{{"capabilities":{{"extensions":{new}}}}}"#),
        format!(r#"{{"capabilities":{new}}}"#),
        format!(r#"{{"experimental":{new}}}"#),
    ] {
        let sent = send(&elsewhere, Stdio, Local, Some(Path::new("/bin/true"))).await;
        assert_eq!(sent, NOTHING, "the wrong place: {elsewhere}");
    }
}
