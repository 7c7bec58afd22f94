//! Approvals in a file.

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep};

use super::{ApprovalStore, StoreError, StoredApproval};
use crate::elicitation::HandlerFuture;

/// Keeps approvals in a JSON file (A1).
///
/// Every look reads the file, so several processes can share it and a person can edit it. It is replaced as a whole, by a
/// file that only its owner can read, while a lock beside it is held: two processes lose nothing of each other's.
///
/// ```
/// use mcp_runtime::{ApprovalDecision, ApprovalPolicy, FileApprovalStore};
///
/// let policy = ApprovalPolicy::ask(|_request| async { ApprovalDecision::Once })
///     .store(FileApprovalStore::new("approvals.json"));
/// # let _ = policy;
/// ```
#[derive(Debug)]
pub struct FileApprovalStore {
    path: Arc<Path>,
}

/// A file of approvals cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("the approvals in {} cannot be used", path.display())]
pub struct ApprovalFileError {
    path: PathBuf,
    #[source]
    kind: ApprovalFileErrorKind,
}

/// What is wrong with a file of approvals.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ApprovalFileErrorKind {
    /// It cannot be read.
    #[error("it cannot be read")]
    Read(#[source] io::Error),
    /// It does not hold approvals; remove it or mend it.
    #[error("it does not hold approvals; remove it or mend it")]
    Content(#[source] serde_json::Error),
    /// It cannot be written.
    #[error("it cannot be written")]
    Write(#[source] io::Error),
    /// Somebody else has held its lock for too long.
    #[error("somebody else has held its lock for {} s", .0.as_secs())]
    Locked(Duration),
    /// The work was given up because the runtime of tokio ended.
    #[error("it was given up")]
    GivenUp,
}

/// How long another process may take to write. It takes milliseconds.
const PATIENCE: Duration = Duration::from_secs(5);
/// How often to look whether it is done.
const LOOK: Duration = Duration::from_millis(20);
/// The largest file that is read.
const LARGEST: u64 = 16 * 1024 * 1024;

#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Content {
    version: Version,
    approvals: BTreeSet<StoredApproval>,
}

/// Of the format. Another one is an error, not an empty file.
#[derive(Default, Serialize, Deserialize)]
enum Version {
    #[default]
    #[serde(rename = "1")]
    One,
}

impl FileApprovalStore {
    /// Keeps approvals in this file. It is made when something is to be kept; its directory has to be there.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        let path: Arc<Path> = path.into().into();
        Self { path }
    }

    /// Everything that is kept.
    ///
    /// # Errors
    ///
    /// When the file is there and cannot be read, or holds something else.
    pub async fn approvals(&self) -> Result<BTreeSet<StoredApproval>, ApprovalFileError> {
        self.with(|path| Ok(read(path)?.approvals)).await
    }

    /// Forgets one; whether it was there.
    ///
    /// # Errors
    ///
    /// As [`approvals`](Self::approvals), and when the file cannot be replaced.
    pub async fn forget(&self, approval: &StoredApproval) -> Result<bool, ApprovalFileError> {
        let approval = approval.clone();
        self.change(move |approvals| approvals.remove(&approval))
            .await
    }

    async fn change(
        &self,
        change: impl FnOnce(&mut BTreeSet<StoredApproval>) -> bool + Send + 'static,
    ) -> Result<bool, ApprovalFileError> {
        let lock = self.lock().await.map_err(|kind| self.error(kind))?;
        self.with(move |path| {
            let mut content = read(path)?;
            let changed = change(&mut content.approvals);
            if changed {
                replace(path, &content).map_err(ApprovalFileErrorKind::Write)?;
            }
            drop(lock);
            Ok(changed)
        })
        .await
    }

    /// Waits until nobody else writes. The lock is let go of when the file is closed, however that comes about.
    async fn lock(&self) -> Result<File, ApprovalFileErrorKind> {
        let mut path = self.path.as_os_str().to_owned();
        path.push(".lock");
        let open = move || OpenOptions::new().create(true).append(true).open(path);
        let file = spawn_blocking(open)
            .await
            .map_err(|_ended| ApprovalFileErrorKind::GivenUp)?
            .map_err(ApprovalFileErrorKind::Write)?;
        let begun = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(file),
                Err(TryLockError::Error(error)) => return Err(ApprovalFileErrorKind::Write(error)),
                Err(TryLockError::WouldBlock) if begun.elapsed() > PATIENCE => {
                    return Err(ApprovalFileErrorKind::Locked(PATIENCE));
                }
                Err(TryLockError::WouldBlock) => sleep(LOOK).await,
            }
        }
    }

    async fn with<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Path) -> Result<T, ApprovalFileErrorKind> + Send + 'static,
    ) -> Result<T, ApprovalFileError> {
        let path = self.path.clone();
        let done = spawn_blocking(move || work(&path)).await;
        let done = done.unwrap_or(Err(ApprovalFileErrorKind::GivenUp));
        done.map_err(|kind| self.error(kind))
    }

    fn error(&self, kind: ApprovalFileErrorKind) -> ApprovalFileError {
        let path = self.path.to_path_buf();
        ApprovalFileError { path, kind }
    }
}

impl ApprovalFileError {
    /// What is wrong.
    #[must_use]
    pub fn kind(&self) -> &ApprovalFileErrorKind {
        &self.kind
    }
}

impl ApprovalStore for FileApprovalStore {
    fn contains<'a>(
        &'a self,
        approval: &'a StoredApproval,
    ) -> HandlerFuture<'a, Result<bool, StoreError>> {
        Box::pin(async move { Ok(self.approvals().await?.contains(approval)) })
    }

    fn insert(&self, approval: StoredApproval) -> HandlerFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            self.change(move |approvals| approvals.insert(approval))
                .await?;
            Ok(())
        })
    }
}

/// A file that is not there holds nothing.
fn read(path: &Path) -> Result<Content, ApprovalFileErrorKind> {
    use io::Read as _;
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Content::default()),
        Err(error) => return Err(ApprovalFileErrorKind::Read(error)),
    };
    let mut text = Vec::new();
    file.take(LARGEST)
        .read_to_end(&mut text)
        .map_err(ApprovalFileErrorKind::Read)?;
    serde_json::from_slice(&text).map_err(ApprovalFileErrorKind::Content)
}

/// Whoever reads sees all of the old or all of the new, also when this process dies in between.
fn replace(path: &Path, content: &Content) -> io::Result<()> {
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    // For nobody but its owner to read.
    let mut file = NamedTempFile::new_in(directory)?;
    serde_json::to_writer_pretty(&mut file, content)?;
    file.write_all(b"\n")?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}

#[cfg(test)]
mod tests;
