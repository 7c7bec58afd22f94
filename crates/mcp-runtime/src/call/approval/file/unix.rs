//! Who may read a file, on Unix.

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;

/// A file that is made is its owner's alone.
pub(super) fn only_owner(options: &mut OpenOptions) {
    options.mode(0o600);
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use tempfile::TempDir;

    /// A1: also where a file of the same name was left behind with other permissions.
    #[test]
    fn what_is_approved_is_nobody_elses_business() {
        let dir = TempDir::with_prefix("approvals-").unwrap();
        let file = crate::call::ApprovalFile::new(dir.path().join("approvals.json"));
        std::fs::write(dir.path().join("approvals.json.new"), "").unwrap();
        file.replace("{}").unwrap();
        drop(file.try_lock().unwrap());
        for entry in std::fs::read_dir(dir.path()).unwrap() {
            let entry = entry.unwrap();
            let mode = entry.metadata().unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "{:?}", entry.file_name());
        }
    }
}
