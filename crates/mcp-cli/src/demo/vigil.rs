//! Watching over processes without knowing them: each holds a lock that goes with it, however it ends.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// A file that processes hold a shared lock on while they live. It goes away with this value.
#[derive(Debug)]
pub(super) struct Vigil {
    path: PathBuf,
    file: File,
}

impl Vigil {
    /// Makes the file.
    pub(super) fn keep() -> io::Result<Self> {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let nanos = now.map_or(0, |now| now.as_nanos());
        let name = format!("mcp-runtime-demo-{}-{nanos}.lock", std::process::id());
        let path = std::env::temp_dir().join(name);
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&path)?;
        Ok(Self { path, file })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether any process holds the lock.
    pub(super) fn sees_anyone(&self) -> io::Result<bool> {
        match self.file.try_lock() {
            Ok(()) => self.file.unlock().map(|()| false),
            Err(TryLockError::WouldBlock) => Ok(true),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

/// Takes part in the vigil at `path` until the value is dropped or the process ends.
pub(super) fn take_part(path: &Path) -> io::Result<File> {
    let file = File::open(path)?;
    file.lock_shared()?;
    Ok(file)
}

impl Drop for Vigil {
    fn drop(&mut self) {
        // A file that stays behind in the temporary directory does no harm.
        let _ = fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_takes_part_is_seen_until_it_goes() {
        let vigil = Vigil::keep().unwrap();
        assert!(!vigil.sees_anyone().unwrap());
        let one = take_part(vigil.path()).unwrap();
        let other = take_part(vigil.path()).unwrap();
        assert!(vigil.sees_anyone().unwrap());
        drop(one);
        assert!(vigil.sees_anyone().unwrap());
        drop(other);
        assert!(!vigil.sees_anyone().unwrap());
        let path = vigil.path().to_owned();
        drop(vigil);
        assert!(!path.exists());
    }
}
