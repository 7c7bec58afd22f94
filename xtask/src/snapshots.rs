//! Snapshots that wait for review, and snapshots that no test looks at any more.
//!
//! insta appends the path of every snapshot file that an assertion compares with to the file named by
//! `INSTA_SNAPSHOT_REFERENCES_FILE`, one line in one write, so any number of test processes may share
//! it. After a run of *all* tests, a `.snap` file in the tree that has no line there is an orphan.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::TaskError;

/// Removes the record of an earlier run.
///
/// # Errors
///
/// When it is there and cannot be removed.
pub(crate) fn forget(references: &Path) -> Result<(), TaskError> {
    match fs::remove_file(references) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(TaskError::file(references)(error))
        }
        _ => Ok(()),
    }
}

/// Compares the snapshots under `root` with those that the tests recorded in `references`.
///
/// # Errors
///
/// When a snapshot is pending or unreferenced, each of which is printed, or a file cannot be read.
pub(crate) fn check(root: &Path, references: &Path) -> Result<(), TaskError> {
    let record = match fs::read_to_string(references) {
        // No test asserted a snapshot.
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        other => other.map_err(TaskError::file(references))?,
    };
    let referenced: BTreeSet<_> = record.lines().filter_map(canonical).collect();
    let mut files = Vec::new();
    snapshot_files(root, &mut files)?;
    let findings: Vec<_> = files
        .iter()
        .filter_map(|file| judge(root, file, &referenced))
        .collect();
    for finding in &findings {
        eprintln!("error: {finding}");
    }
    let kept = files.len() - findings.len();
    eprintln!("{kept} snapshot files, each looked at by a test");
    match findings.len() {
        0 => Ok(()),
        count => Err(TaskError::Findings { count }),
    }
}

/// Recorded paths may lead through `..` where an assertion sits in a shared module.
fn canonical(line: &str) -> Option<PathBuf> {
    fs::canonicalize(line).ok()
}

fn judge(root: &Path, file: &Path, referenced: &BTreeSet<PathBuf>) -> Option<String> {
    let name = file.strip_prefix(root).unwrap_or(file).to_string_lossy();
    if !name.ends_with(".snap") {
        return Some(format!(
            "{name}: a snapshot waits for review: move it over the old one, or delete it"
        ));
    }
    let known = fs::canonicalize(file).is_ok_and(|path| referenced.contains(&path));
    (!known).then(|| format!("{name}: no test looks at this snapshot: delete it"))
}

/// All snapshot files, ignored ones too: pending snapshots are ignored by git.
fn snapshot_files(folder: &Path, found: &mut Vec<PathBuf>) -> Result<(), TaskError> {
    let entries = fs::read_dir(folder).map_err(TaskError::file(folder))?;
    for entry in entries {
        let entry = entry.map_err(TaskError::file(folder))?;
        let kind = entry.file_type().map_err(TaskError::file(&entry.path()))?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if kind.is_dir() {
            if name != "target" && name != ".git" {
                snapshot_files(&entry.path(), found)?;
            }
        } else if [".snap", ".snap.new", ".pending-snap"]
            .iter()
            .any(|ending| name.ends_with(ending))
        {
            found.push(entry.path());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lays `files` under a folder of this test's own and checks them against a record naming
    /// `referenced`.
    #[track_caller]
    fn check_tree(name: &str, files: &[&str], referenced: &[&str], expected: usize) {
        let root = std::env::temp_dir().join(format!("xtask-{}-{name}", std::process::id()));
        let mut record = String::new();
        for file in files {
            let path = root.join(file);
            fs::create_dir_all(path.parent().expect("below the root")).expect("a folder");
            fs::write(&path, "").expect("a file");
        }
        for file in referenced {
            record.push_str(&format!("{}\n", root.join(file).display()));
        }
        let references = root.join("references.txt");
        fs::write(&references, record).expect("a file");
        let result = check(&root, &references);
        fs::remove_dir_all(&root).expect("its own folder");
        let found = match result {
            Ok(()) => 0,
            Err(TaskError::Findings { count }) => count,
            Err(other) => panic!("{other:?}"),
        };
        assert_eq!(found, expected, "{name}");
    }

    #[test]
    fn accepts_snapshots_that_tests_look_at() {
        check_tree(
            "referenced",
            &["a/src/snapshots/a__x.snap", "b/b__y.snap", "a/src/lib.rs"],
            &["a/src/../src/snapshots/a__x.snap", "b/b__y.snap"],
            0,
        );
    }

    #[test]
    fn rejects_a_snapshot_that_no_test_looks_at() {
        check_tree("orphan", &["a/x.snap", "a/y.snap"], &["a/x.snap"], 1);
    }

    #[test]
    fn rejects_pending_snapshots_even_where_a_test_looks_at_the_old_one() {
        check_tree(
            "pending",
            &["a/x.snap", "a/x.snap.new", "a/.lib.rs.pending-snap"],
            &["a/x.snap"],
            2,
        );
    }

    #[test]
    fn does_not_look_into_build_output() {
        check_tree("target", &["target/package/x.snap"], &[], 0);
    }

    #[test]
    fn a_missing_record_references_nothing() {
        let nowhere = std::env::temp_dir().join("xtask-no-such-record");
        forget(&nowhere).expect("nothing to forget is fine");
        let empty = std::env::temp_dir().join(format!("xtask-{}-empty", std::process::id()));
        fs::create_dir_all(&empty).expect("a folder");
        let result = check(&empty, &nowhere);
        fs::remove_dir_all(&empty).expect("its own folder");
        assert!(result.is_ok());
    }
}
