//! Why a file of approvals was no use.

use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};

use crate::deadline::Elapsed;

/// A file of approvals could not be read or written.
#[derive(Debug, thiserror::Error)]
#[error("the approvals in {} cannot be used", .path.display())]
pub struct ApprovalFileError {
    path: PathBuf,
    #[source]
    kind: ApprovalFileErrorKind,
}

/// The cases of [`ApprovalFileError`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ApprovalFileErrorKind {
    /// It cannot be read.
    #[error("the file cannot be read")]
    Read(#[source] io::Error),
    /// It cannot be replaced.
    #[error("the file cannot be written")]
    Write(#[source] io::Error),
    /// The lock file beside it cannot be used.
    #[error("the lock file cannot be used")]
    Lock(#[source] io::Error),
    /// Another process does not let go of it.
    #[error("another process holds the file")]
    Busy(#[source] Elapsed),
    /// It is not what this crate writes.
    #[error("the file holds something else")]
    Unreadable(#[source] Box<dyn Error + Send + Sync>),
    /// A later version of this crate has written it.
    #[error("the file is of version {version}, which this program does not know")]
    Version {
        /// The version that the file names.
        version: u64,
    },
}

impl ApprovalFileError {
    pub(super) fn new(path: &Path, kind: ApprovalFileErrorKind) -> Self {
        Self {
            path: path.to_owned(),
            kind,
        }
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Which case it is.
    #[must_use]
    pub fn kind(&self) -> &ApprovalFileErrorKind {
        &self.kind
    }
}
