//! The same contract in rmcp's types.

use mcp_sandbox_meta::{
    SandboxMetadata, StateNotRepresentable, advertise_sandbox_state_to_rmcp,
    advertises_sandbox_state_in_value,
};
use rmcp::model::{RequestMetaObject, ServerCapabilities};

use super::metadata;

/// S2, S7
#[test]
fn metadata_survives_the_way_through_rmcp() {
    let state = r#"{"cwd":"file:///a%20b","deep":[[null,true,-1]],"n":1.5}"#;
    let sent = metadata(state, Some("/opt/codex"));
    let mut meta = RequestMetaObject::new();
    sent.insert_into_rmcp_meta(&mut meta).unwrap();
    assert_eq!(meta.len(), 3);
    assert_eq!(
        meta["codex/sandbox-state"],
        meta["codex/sandbox-state-meta"]
    );

    let received = SandboxMetadata::from_rmcp_meta(&meta).unwrap().unwrap();
    assert_eq!(received.state().as_raw().get(), state);
    assert_eq!(received.launcher(), sent.launcher());
    assert!(
        SandboxMetadata::from_rmcp_meta(&RequestMetaObject::new())
            .unwrap()
            .is_none()
    );
}

/// S3
#[test]
fn a_state_that_would_change_is_not_sent() {
    for state in [
        r#"{"n":18446744073709551616}"#,
        "[1e2]",
        "[1e400]",
        r#"{"a":1,"a":2}"#,
        r#""\ud800""#,
    ] {
        // Not through `from_meta`, which refuses one of them itself.
        let sent = SandboxMetadata::new(serde_json::from_str(state).unwrap());
        let mut meta = RequestMetaObject::new();
        let refused = sent.insert_into_rmcp_meta(&mut meta);
        let _: StateNotRepresentable = refused.expect_err(state);
        assert!(meta.is_empty(), "{state}");
    }
}

/// S1
#[test]
fn a_server_on_rmcp_opts_in() {
    let mut capabilities = ServerCapabilities::default();
    advertise_sandbox_state_to_rmcp(&mut capabilities);
    let answer = serde_json::json!({ "capabilities": capabilities });
    assert!(advertises_sandbox_state_in_value(&answer), "{answer}");
}
