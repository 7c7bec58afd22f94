use std::path::Path;

use futures_util::future::join_all;
use mcp_keys::{McpServerKey, ToolKey};
use tempfile::TempDir;

use super::*;
use crate::approval::{DefinitionDigest, LaunchFingerprint};
use crate::config::{StdioTransport, Transport};

fn approval(tool: &str) -> StoredApproval {
    let server = McpServerKey::host("docs".parse().unwrap());
    let definition = serde_json::value::to_raw_value(&serde_json::json!({"name": tool})).unwrap();
    let launch = Transport::Stdio(StdioTransport::new("docs"));
    StoredApproval::new(
        ToolKey::new(server, tool.parse().unwrap()),
        DefinitionDigest::of(&definition),
        LaunchFingerprint::of(None, &[], None, &launch),
    )
}

fn store() -> (FileApprovalStore, TempDir) {
    let dir = TempDir::with_prefix("approvals-").unwrap();
    (
        FileApprovalStore::new(dir.path().join("approvals.json")),
        dir,
    )
}

/// A1
#[tokio::test]
async fn what_is_kept_is_there_for_another_process() {
    let (store, dir) = store();
    let (read, write) = (approval("read"), approval("write"));
    assert!(!store.contains(&read).await.unwrap());
    store.insert(read.clone()).await.unwrap();
    store.insert(read.clone()).await.unwrap();
    let other = FileApprovalStore::new(dir.path().join("approvals.json"));
    assert!(other.contains(&read).await.unwrap());
    assert!(!other.contains(&write).await.unwrap());
    assert!(other.forget(&read).await.unwrap());
    assert!(!other.forget(&read).await.unwrap());
    assert!(!store.contains(&read).await.unwrap());
}

/// A1
#[tokio::test]
async fn many_who_write_at_once_lose_nothing() {
    let (_, dir) = store();
    let path = dir.path().join("approvals.json");
    let tools: Vec<String> = (0..40).map(|n| format!("tool-{n}")).collect();
    // Each with a store of its own, as processes have.
    let writing = tools.iter().map(|tool| {
        let store = FileApprovalStore::new(&path);
        async move { store.insert(approval(tool)).await.unwrap() }
    });
    join_all(writing).await;
    let kept = FileApprovalStore::new(&path).approvals().await.unwrap();
    assert_eq!(kept.len(), tools.len());
}

#[tokio::test]
async fn a_file_of_something_else_is_an_error_and_stays() {
    for (content, why) in [
        ("", "empty"),
        ("{", "broken"),
        ("[]", "of another shape"),
        (r#"{"version":"2","approvals":[]}"#, "of a later version"),
        (
            r#"{"version":"1","approvals":[],"more":1}"#,
            "with more in it",
        ),
        (
            r#"{"version":"1","approvals":[{"tool":{"server":"a","tool":"b"},"definition":"7","launch":"7"}]}"#,
            "not digests",
        ),
    ] {
        let (store, dir) = store();
        let path = dir.path().join("approvals.json");
        std::fs::write(&path, content).unwrap();
        let error = store.approvals().await.unwrap_err();
        assert!(
            matches!(error.kind(), ApprovalFileErrorKind::Content(_)),
            "{why}: {error:?}"
        );
        assert!(store.insert(approval("read")).await.is_err(), "{why}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), content, "{why}");
    }
}

#[tokio::test]
async fn a_place_that_cannot_be_written_is_an_error() {
    let store = FileApprovalStore::new(Path::new("/no/such/directory/approvals.json"));
    assert!(!store.contains(&approval("read")).await.unwrap());
    let error = store.insert(approval("read")).await.unwrap_err();
    let error = error.downcast::<ApprovalFileError>().unwrap();
    assert!(
        matches!(error.kind(), ApprovalFileErrorKind::Write(_)),
        "{error:?}"
    );
}

#[tokio::test]
async fn a_lock_that_is_never_let_go_of_is_an_error() {
    let (store, _dir) = store();
    let _held = store.lock().await.unwrap();
    tokio::time::pause();
    let error = store.insert(approval("read")).await.unwrap_err();
    let error = error.downcast::<ApprovalFileError>().unwrap();
    assert!(
        matches!(error.kind(), ApprovalFileErrorKind::Locked(_)),
        "{error:?}"
    );
}

#[tokio::test]
async fn the_file_says_what_was_approved() {
    let (store, dir) = store();
    store.insert(approval("read")).await.unwrap();
    let text = std::fs::read_to_string(dir.path().join("approvals.json")).unwrap();
    insta::assert_snapshot!(text, @r#"
    {
      "version": "1",
      "approvals": [
        {
          "tool": {
            "server": "docs",
            "tool": "read"
          },
          "definition": "6a7296be2d50ccb2ca26b9ea6ec1692b395c27c07fdfe9a1a705c0e1c04a3b99",
          "launch": "053d8f8951a1f52932dfcf66f506c6c34151b364ca4e0f67e0ad5a6fd54fc271"
        }
      ]
    }
    "#);
}
