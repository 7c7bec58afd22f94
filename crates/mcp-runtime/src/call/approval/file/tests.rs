//! Approvals that outlive a process.

use std::sync::LazyLock;

use serde_json::value::RawValue;
use tempfile::TempDir;

use super::*;
use crate::call::{DefinitionDigest, LaunchFingerprint};
use crate::config::{StdioTransport, Transport};
use crate::executor::Executor;
use crate::tool::Tool;

fn record(tool: &str, description: &str, command: &str) -> ApprovalRecord {
    let definition = format!(r#"{{"name":"t","description":"{description}"}}"#);
    let definition = RawValue::from_string(definition).unwrap();
    let digest = DefinitionDigest::of(&Tool::new("t".parse().unwrap(), definition));
    let transport = Transport::Stdio(StdioTransport::new(command));
    let launch = LaunchFingerprint::of(None, &Executor::Local, &transport);
    ApprovalRecord::new(serde_json::from_str(tool).unwrap(), digest, launch)
}

const OF_THE_HOST: &str = r#"{"server":"docs","tool":"t"}"#;
const OF_DEVBOX: &str = r#"{"server":"docs","environment_id":"devbox","tool":"t"}"#;

static APPROVED: LazyLock<ApprovalRecord> =
    LazyLock::new(|| record(OF_DEVBOX, "finds", "docs-server"));

/// A file in a directory of its own.
struct Place {
    dir: TempDir,
}

impl Place {
    fn new() -> Self {
        Self {
            dir: TempDir::with_prefix("approvals-").unwrap(),
        }
    }

    fn open(&self) -> ApprovalFile {
        ApprovalFile::new(self.dir.path().join("approvals.json"))
    }

    /// The file holds this.
    fn holding(text: impl AsRef<[u8]>) -> Self {
        let place = Self::new();
        fs::write(place.open().path(), text).unwrap();
        place
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.dir.path()).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> = names.collect();
        names.sort();
        names
    }
}

/// A1
#[tokio::test]
async fn an_approval_is_for_exactly_what_was_approved() {
    let place = Place::new();
    assert!(!place.open().holds(&APPROVED).await.unwrap(), "no file yet");
    place.open().keep(&APPROVED).await.unwrap();
    for (record, held, why) in [
        (APPROVED.clone(), true, "itself"),
        (
            record(OF_THE_HOST, "finds", "docs-server"),
            false,
            "the namesake in another environment",
        ),
        (
            record(OF_DEVBOX, "deletes", "docs-server"),
            false,
            "another definition",
        ),
        (
            record(OF_DEVBOX, "finds", "other-server"),
            false,
            "another launch",
        ),
    ] {
        assert_eq!(place.open().holds(&record).await.unwrap(), held, "{why}");
    }
    assert_eq!(place.names(), ["approvals.json", "approvals.json.lock"]);
}

/// A1: many writers at once, each with a handle of its own as processes have.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn nobody_loses_what_another_keeps() {
    let place = Place::new();
    let records: Vec<_> = (0..32)
        .map(|n| record(OF_DEVBOX, &n.to_string(), "docs-server"))
        .collect();
    let keeping = records.iter().cloned().map(|record| {
        let file = place.open();
        tokio::spawn(async move { file.keep(&record).await })
    });
    for kept in keeping.collect::<Vec<_>>() {
        kept.await.unwrap().unwrap();
    }
    for record in &records {
        assert!(place.open().holds(record).await.unwrap());
    }
}

/// A1: what is left of a process that was killed in the middle of it is in nobody's way.
#[tokio::test]
async fn half_a_replacement_is_in_nobodys_way() {
    let place = Place::new();
    fs::write(place.dir.path().join("approvals.json.new"), "{\"ver").unwrap();
    place.open().keep(&APPROVED).await.unwrap();
    assert!(place.open().holds(&APPROVED).await.unwrap());
}

/// A1
#[tokio::test]
async fn a_file_that_cannot_be_understood_is_told_and_put_aside() {
    let of_array = format!("[1,[[{}]]]", r#"{"server":"docs","tool":"t"},"#.repeat(2));
    for text in [
        b"".as_slice(),
        b"{\"version\":1",
        b"{\"version\":1,\"approvals\":[{\"tool\":7}]}",
        b"\xff\xfe",
        b"[]",
        of_array.as_bytes(),
    ] {
        let place = Place::holding(text);
        let error = place.open().holds(&APPROVED).await.unwrap_err();
        assert!(
            matches!(error.kind(), ApprovalFileErrorKind::Unreadable(_)),
            "{error:?}"
        );
        place.open().keep(&APPROVED).await.unwrap();
        assert!(place.open().holds(&APPROVED).await.unwrap());
        let aside = place.dir.path().join("approvals.json.unreadable");
        assert_eq!(fs::read(aside).unwrap(), text, "nothing is lost");
    }
}

/// A1
#[tokio::test]
async fn a_file_of_a_later_version_is_left_alone() {
    let text = r#"{"version":2,"approvals":{}}"#;
    let place = Place::holding(text);
    for outcome in [
        place.open().holds(&APPROVED).await.map(drop),
        place.open().keep(&APPROVED).await,
    ] {
        let error = outcome.unwrap_err();
        assert!(
            matches!(error.kind(), ApprovalFileErrorKind::Version { version: 2 }),
            "{error:?}"
        );
    }
    assert_eq!(fs::read_to_string(place.open().path()).unwrap(), text);
}

/// A1: a lock that is never let go of is an error, and no wait without end.
#[tokio::test(flavor = "current_thread", start_paused = true)]
async fn a_file_that_another_process_holds_is_waited_for_a_while() {
    let place = Place::new();
    let lock = place.open().try_lock().unwrap();
    let file = place.open();
    let keeping = tokio::spawn(async move { file.keep(&APPROVED).await });
    tokio::task::yield_now().await;
    drop(lock);
    keeping.await.unwrap().unwrap();

    let _lock = place.open().try_lock().unwrap();
    let other = record(OF_DEVBOX, "other", "docs-server");
    let error = place.open().keep(&other).await.unwrap_err();
    assert!(
        matches!(error.kind(), ApprovalFileErrorKind::Busy(_)),
        "{error:?}"
    );
    assert!(
        place.open().holds(&APPROVED).await.unwrap(),
        "reading waits for nobody"
    );
}

#[tokio::test]
async fn a_directory_that_is_not_there_is_an_error_that_names_the_file() {
    let place = Place::new();
    let file = ApprovalFile::new(place.dir.path().join("gone").join("approvals.json"));
    assert!(!file.holds(&APPROVED).await.unwrap());
    let error = file.keep(&APPROVED).await.unwrap_err();
    assert!(error.to_string().contains("gone"), "{error}");
    assert!(
        matches!(error.kind(), ApprovalFileErrorKind::Lock(_)),
        "{error:?}"
    );
}
