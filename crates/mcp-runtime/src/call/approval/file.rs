//! Approvals in a file that several processes may share.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

mod error;
mod text;

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::sleep;

pub use error::{ApprovalFileError, ApprovalFileErrorKind};
use text::Approved;
#[cfg(unix)]
use unix as platform;
#[cfg(windows)]
use windows as platform;

use super::{ApprovalRecord, ApprovalStore, ApprovalStoreError};
use crate::deadline::Deadline;
use crate::elicitation::HandlerFuture;

/// How long another process may hold the file.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long one waits before it is tried again.
const PAUSE: Duration = Duration::from_millis(10);

/// Keeps approvals in a file, for every process that is given its path (A1).
///
/// The file is read at each question and replaced as a whole, with a lock file beside it while that is done: no process
/// sees half of it, and none loses what another has kept. Where there are owners of files, only the file's may read it.
/// Deleting it takes every approval back, but what runtimes that are running have approved themselves. Its directory has
/// to exist.
///
/// A file that cannot be understood is an error to whoever asks, and so asks again; the next approval that is kept puts
/// it aside, with `.unreadable` after its name, and begins a new one. One of a later version is left alone.
#[derive(Debug, Clone)]
pub struct ApprovalFile {
    path: Arc<Path>,
}

impl ApprovalFile {
    /// A file that is there, or will be when the first approval is kept.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into().into(),
        }
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    async fn holds(&self, approval: &ApprovalRecord) -> Result<bool, ApprovalFileError> {
        let approval = approval.clone();
        self.blocking(move |file| Ok(file.read()?.contains(&approval)))
            .await
    }

    async fn keep(&self, approval: &ApprovalRecord) -> Result<(), ApprovalFileError> {
        let deadline = Deadline::after(PATIENCE);
        loop {
            let approval = approval.clone();
            let kept = self.blocking(move |file| file.try_keep(&approval)).await?;
            if kept {
                return Ok(());
            }
            let waited = deadline.bound(sleep(PAUSE)).await;
            waited.map_err(|elapsed| self.error(ApprovalFileErrorKind::Busy(elapsed)))?;
        }
    }

    /// Does what may block where that holds up nobody.
    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Self) -> Result<T, ApprovalFileErrorKind> + Send + 'static,
    ) -> Result<T, ApprovalFileError> {
        let file = self.clone();
        let done = tokio::task::spawn_blocking(move || work(&file)).await;
        // It does not panic, so it was the executor that ended.
        let done = done.map_err(|ended| ApprovalFileErrorKind::Read(io::Error::other(ended)));
        done.flatten().map_err(|kind| self.error(kind))
    }

    fn read(&self) -> Result<Approved, ApprovalFileErrorKind> {
        match fs::read_to_string(&self.path) {
            Ok(text) => Approved::read(&text),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Approved::default()),
            // Bytes that are no text are no approvals either.
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                Err(ApprovalFileErrorKind::Unreadable(Box::new(error)))
            }
            Err(error) => Err(ApprovalFileErrorKind::Read(error)),
        }
    }

    /// Keeps an approval; `false` while another process holds the file.
    fn try_keep(&self, approval: &ApprovalRecord) -> Result<bool, ApprovalFileErrorKind> {
        // The lock is let go of when the file is closed, however that comes about.
        let Some(_lock) = self.try_lock().map_err(ApprovalFileErrorKind::Lock)? else {
            return Ok(false);
        };
        let mut approved = match self.read() {
            Err(ApprovalFileErrorKind::Unreadable(_)) => {
                let aside = fs::rename(&self.path, self.beside(".unreadable"));
                aside.map_err(ApprovalFileErrorKind::Write)?;
                Approved::default()
            }
            read => read?,
        };
        if approved.insert(approval) {
            let replaced = self.replace(&approved.text());
            replaced.map_err(ApprovalFileErrorKind::Write)?;
        }
        Ok(true)
    }

    fn try_lock(&self) -> io::Result<Option<File>> {
        let mut options = OpenOptions::new();
        options.write(true).create(true);
        platform::only_owner(&mut options);
        let lock = options.open(self.beside(".lock"))?;
        match lock.try_lock() {
            Ok(()) => Ok(Some(lock)),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// Whoever reads sees what was there or what is there now. Only who holds the lock comes here.
    fn replace(&self, text: &str) -> io::Result<()> {
        let new = self.beside(".new");
        match fs::remove_file(&new) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            // It was left behind by a process that was killed.
            _ => {}
        }
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        platform::only_owner(&mut options);
        let mut file = options.open(&new)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        drop(file);
        fs::rename(&new, &self.path)
    }

    fn beside(&self, suffix: &str) -> PathBuf {
        let mut path = self.path.as_os_str().to_owned();
        path.push(OsStr::new(suffix));
        path.into()
    }

    fn error(&self, kind: ApprovalFileErrorKind) -> ApprovalFileError {
        ApprovalFileError::new(&self.path, kind)
    }
}

impl ApprovalStore for ApprovalFile {
    fn contains<'a>(
        &'a self,
        approval: &'a ApprovalRecord,
    ) -> HandlerFuture<'a, Result<bool, ApprovalStoreError>> {
        Box::pin(async { self.holds(approval).await.map_err(ApprovalStoreError::new) })
    }

    fn insert<'a>(
        &'a self,
        approval: &'a ApprovalRecord,
    ) -> HandlerFuture<'a, Result<(), ApprovalStoreError>> {
        Box::pin(async { self.keep(approval).await.map_err(ApprovalStoreError::new) })
    }
}

#[cfg(test)]
mod tests;
