//! What tells the processes of one tree from all others, whoever their parents are by now: a variable that all of them
//! inherit, short of a program that throws its environment away.

use std::env;
use std::hash::{BuildHasher as _, RandomState};
use std::process::{self, Command};

#[cfg(target_os = "linux")]
use rustix::process::Pid;

const VARIABLE: &str = "MCP_RUNTIME_TREE";
/// Between the mark of a tree and that of the tree in which it was started.
const SEPARATOR: char = ':';

/// The mark of one tree.
#[derive(Debug)]
pub(in super::super) struct Mark(String);

/// The marks that a process carries: of its tree, and of those around it.
#[cfg(target_os = "linux")]
#[derive(Debug, Default)]
pub(super) struct Marks(Option<String>);

impl Mark {
    /// Marks `command` and all that it will start.
    pub(super) fn put(command: &mut Command) -> Self {
        // Random keys, which is all that is wanted of them.
        let own = format!("{:016x}", RandomState::new().hash_one(process::id()));
        // A host that is itself a server of a host stays in that one's tree.
        let value = match env::var(VARIABLE) {
            Ok(outer) => format!("{outer}{SEPARATOR}{own}"),
            Err(_) => own.clone(),
        };
        command.env(VARIABLE, value);
        Self(own)
    }
}

#[cfg(target_os = "linux")]
impl Marks {
    /// None for one that has ended, and for one of another user, which cannot be told.
    pub(super) fn read(pid: Pid) -> Self {
        let path = format!("/proc/{}/environ", pid.as_raw_nonzero());
        Self(std::fs::read(path).ok().and_then(|text| Self::parse(&text)))
    }

    fn parse(environment: &[u8]) -> Option<String> {
        environment.split(|&byte| byte == 0).find_map(|variable| {
            let value = variable
                .strip_prefix(VARIABLE.as_bytes())?
                .strip_prefix(b"=")?;
            Some(str::from_utf8(value).ok()?.to_owned())
        })
    }

    pub(super) fn contain(&self, mark: &Mark) -> bool {
        let marks = self.0.iter().flat_map(|marks| marks.split(SEPARATOR));
        marks.into_iter().any(|other| other == mark.0)
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_found_among_others_and_whole_only() {
        let mark = Mark("00ff".to_owned());
        let rows: &[(&[u8], bool, &str)] = &[
            (b"A=1\0MCP_RUNTIME_TREE=00ff\0B=2\0", true, "alone"),
            (b"MCP_RUNTIME_TREE=aa:00ff\0", true, "in another tree"),
            (b"MCP_RUNTIME_TREE=00ff:bb", true, "around another tree"),
            (b"MCP_RUNTIME_TREE=00ff0\0", false, "another one"),
            (b"MCP_RUNTIME_TREES=00ff\0", false, "another variable"),
            (b"X=MCP_RUNTIME_TREE=00ff\0", false, "a value"),
            (b"MCP_RUNTIME_TREE=\xff\0", false, "not a mark"),
            (b"", false, "nothing"),
        ];
        for (environment, expected, reason) in rows {
            let marks = Marks(Marks::parse(environment));
            assert_eq!(marks.contain(&mark), *expected, "{reason}");
        }
    }

    #[test]
    fn two_trees_have_two_marks() {
        let mut command = Command::new("true");
        let (one, two) = (Mark::put(&mut command), Mark::put(&mut command));
        assert_ne!(one.0, two.0);
    }
}
