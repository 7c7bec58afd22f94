//! The files of the workspace: what git tracks or would track, or everything where there is no git.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

use super::code;
use crate::command::git;
use crate::error::TaskError;

/// The files that make up the repository.
#[derive(Debug, Default)]
pub(super) struct Tree {
    /// Every file, relative to the root, with `/`.
    pub(super) paths: BTreeSet<String>,
    /// Those that are text.
    pub(super) files: Vec<TextFile>,
}

/// A file and what is in it.
#[derive(Debug)]
pub(super) struct TextFile {
    pub(super) path: String,
    pub(super) text: String,
}

impl Tree {
    /// Reads all files of the repository at `root`.
    ///
    /// # Errors
    ///
    /// When a folder or file cannot be read. One that goes away meanwhile is no error.
    pub(super) fn read(root: &Path) -> Result<Self, TaskError> {
        let paths = match listed_by_git(root) {
            Some(paths) => paths,
            None => {
                let mut paths = BTreeSet::new();
                walk(root, "", &mut paths)?;
                paths
            }
        };
        let mut tree = Self::default();
        for path in paths {
            let absolute = root.join(&path);
            // Git lists what was deleted and not yet committed.
            if !absolute.is_file() {
                continue;
            }
            match fs::read(&absolute) {
                Ok(bytes) => tree.insert(path, String::from_utf8(bytes).ok()),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(TaskError::file(&absolute)(error)),
            }
        }
        Ok(tree)
    }

    fn insert(&mut self, path: String, text: Option<String>) {
        self.paths.insert(path.clone());
        if let Some(text) = text {
            self.files.push(TextFile { path, text });
        }
    }

    /// The text of one file.
    pub(super) fn text(&self, path: &str) -> Option<&str> {
        let file = self.files.iter().find(|file| file.path == path)?;
        Some(&file.text)
    }

    /// The text files whose names end with `ending`.
    pub(super) fn ending(&self, ending: &'static str) -> impl Iterator<Item = &TextFile> {
        self.files
            .iter()
            .filter(move |file| file.path.ends_with(ending))
    }

    /// Whether a file or folder of this path is there.
    pub(super) fn contains(&self, path: &str) -> bool {
        let folder = format!("{path}/");
        path.is_empty()
            || self.paths.contains(path)
            || self.paths.iter().any(|known| known.starts_with(&folder))
    }
}

impl TextFile {
    /// The lines, counted from 1.
    pub(super) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        (1..).zip(self.text.lines())
    }

    /// The lines of Rust source with comments and the contents of literals blanked out.
    pub(super) fn code_lines(&self) -> Vec<String> {
        code::blank(&self.text).lines().map(str::to_owned).collect()
    }
}

/// Tracked files and new ones that are not ignored; `None` without git or outside a repository.
fn listed_by_git(root: &Path) -> Option<BTreeSet<String>> {
    let args = [
        "ls-files",
        "--cached",
        "--others",
        "--exclude-standard",
        "-z",
    ];
    let output = git(root, args).output().ok()?;
    if !output.status.success() {
        return None;
    }
    let listing = String::from_utf8_lossy(&output.stdout);
    let paths: BTreeSet<_> = listing
        .split('\0')
        .filter(|path| !path.is_empty())
        .map(str::to_owned)
        .collect();
    // An exported tree below somebody's own repository lists nothing.
    (!paths.is_empty()).then_some(paths)
}

fn walk(root: &Path, below: &str, paths: &mut BTreeSet<String>) -> Result<(), TaskError> {
    let folder = root.join(below);
    for entry in fs::read_dir(&folder).map_err(TaskError::file(&folder))? {
        let entry = entry.map_err(TaskError::file(&folder))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if below.is_empty() {
            name.clone()
        } else {
            format!("{below}/{name}")
        };
        let kind = entry.file_type().map_err(TaskError::file(&entry.path()))?;
        if !kind.is_dir() {
            paths.insert(path);
        } else if name != ".git" && path != "target" {
            walk(root, &path, paths)?;
        }
    }
    Ok(())
}

#[cfg(test)]
impl Tree {
    /// A tree in memory.
    pub(super) fn of(files: &[(&str, &str)]) -> Self {
        let mut tree = Self::default();
        for (path, text) in files {
            tree.insert((*path).to_owned(), Some((*text).to_owned()));
        }
        tree
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::workspace_root;

    #[test]
    fn knows_files_and_the_folders_above_them() {
        let tree = Tree::of(&[("docs/a.md", "")]);
        for (path, expected) in [
            ("docs/a.md", true),
            ("docs", true),
            ("", true),
            ("doc", false),
        ] {
            assert_eq!(tree.contains(path), expected, "{path}");
        }
    }

    #[test]
    fn reads_this_file_with_git_and_without() {
        let root = workspace_root();
        let mut walked = BTreeSet::new();
        walk(&root, "", &mut walked).expect("a readable workspace");
        let this = "xtask/src/tidy/tree.rs";
        assert!(walked.contains(this));
        assert!(Tree::read(&root).expect("readable").text(this).is_some());
    }
}
