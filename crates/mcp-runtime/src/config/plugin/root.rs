//! The directory of a plugin, and nothing beside it.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Component, Path, PathBuf};

use super::error::{Broken, PluginErrorKind};
use crate::config::Place;

/// The largest manifest, in bytes.
const LARGEST: u64 = 1024 * 1024;

/// Where a plugin is installed.
#[derive(Debug)]
pub(super) struct PluginRoot {
    /// As it was given, made absolute: a name that stays while what it leads to is exchanged.
    path: PathBuf,
    /// What it leads to.
    real: PathBuf,
}

/// A file of a plugin.
#[derive(Debug)]
pub(super) struct PluginFile {
    pub(super) path: PathBuf,
    pub(super) text: String,
}

impl PluginRoot {
    pub(super) fn open(path: &Path) -> Result<Self, Broken> {
        let opened = || {
            let absolute = std::path::absolute(path)?;
            let real = fs::canonicalize(&absolute)?;
            if !real.is_dir() {
                return Err(io::ErrorKind::NotADirectory.into());
            }
            let path = absolute;
            Ok(Self { path, real })
        };
        opened().map_err(|error| Broken::new(path, PluginErrorKind::Root(error)))
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The same for every way to the same directory.
    pub(super) fn real(&self) -> &Path {
        &self.real
    }

    /// Its path as text, for what is put into texts.
    pub(super) fn text(&self) -> Result<&str, Broken> {
        let text = self.path.to_str();
        text.ok_or_else(|| Broken::new(&self.path, PluginErrorKind::NotUtf8))
    }

    /// What its directory is called.
    pub(super) fn name(&self) -> String {
        let name = self.path.file_name().unwrap_or(self.path.as_os_str());
        name.to_string_lossy().into_owned()
    }

    /// Reads a file of the plugin; `None` when there is none. One that is not in the root is not opened, whichever way it
    /// leads out: as a path or as a symbolic link.
    pub(super) fn read(&self, relative: &Path) -> Result<Option<PluginFile>, Broken> {
        let path = self.path.join(relative);
        let fail = |kind| Broken::new(&path, kind);
        let inside = |part| matches!(part, Component::Normal(_) | Component::CurDir);
        if !relative.components().all(inside) {
            return Err(fail(PluginErrorKind::Outside));
        }
        let real = match fs::canonicalize(&path) {
            Ok(real) => real,
            Err(error) if is_absent(&error) => return Ok(None),
            Err(error) => return Err(fail(PluginErrorKind::Unreadable(error))),
        };
        if !real.starts_with(&self.real) {
            return Err(fail(PluginErrorKind::Outside));
        }
        let bytes = content(&real).map_err(|error| fail(PluginErrorKind::Unreadable(error)))?;
        let bytes = bytes.ok_or_else(|| fail(PluginErrorKind::TooLarge { limit: LARGEST }))?;
        let text = String::from_utf8(bytes).map_err(|error| {
            let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            fail(PluginErrorKind::NotUtf8).at(Some(Place::after(before)))
        })?;
        Ok(Some(PluginFile { path, text }))
    }
}

fn is_absent(error: &io::Error) -> bool {
    use io::ErrorKind::{NotADirectory, NotFound};
    matches!(error.kind(), NotFound | NotADirectory)
}

/// The bytes of a file; `None` when there are too many. To open anything but a file could wait for ever.
fn content(path: &Path) -> io::Result<Option<Vec<u8>>> {
    if !fs::metadata(path)?.is_file() {
        let why = "it is no file";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    let mut bytes = Vec::new();
    File::open(path)?
        .take(LARGEST + 1)
        .read_to_end(&mut bytes)?;
    let fits = u64::try_from(bytes.len()).is_ok_and(|length| length <= LARGEST);
    Ok(fits.then_some(bytes))
}
