//! What the process table says of a process: `/proc/<pid>/stat`.

use std::fs;

use rustix::process::Pid;

/// A process at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ProcessStat {
    pub(super) pid: Pid,
    parent: Option<Pid>,
    pub(super) group: Option<Pid>,
    session: Option<Pid>,
    /// When it began. Number and beginning together are one process and no other.
    pub(super) began: u64,
}

impl ProcessStat {
    /// `None` when there is no such process.
    pub(super) fn read(pid: Pid) -> Option<Self> {
        let text = fs::read(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
        Self::parse(&text)
    }

    /// `pid (name) state parent group session ..`, the beginning being the 22nd.
    fn parse(text: &[u8]) -> Option<Self> {
        // The name may hold anything, parentheses and spaces included.
        let (open, close) = (memchr::memchr(b'(', text)?, memchr::memrchr(b')', text)?);
        let pid = str::from_utf8(&text[..open]).ok()?.trim();
        let mut fields = str::from_utf8(text.get(close + 1..)?)
            .ok()?
            .split_ascii_whitespace()
            .skip(1);
        let mut number = || fields.next().and_then(process);
        Some(Self {
            pid: process(pid)??,
            parent: number()?,
            group: number()?,
            session: number()?,
            began: fields.nth(15)?.parse().ok()?,
        })
    }

    /// Whether it is a child of that process, or in the group or session that that process leads.
    pub(super) fn follows(&self, other: Pid) -> bool {
        [self.parent, self.group, self.session].contains(&Some(other))
    }
}

/// A number of a process, or of none: a process that is just being collected has the group and session -1.
fn process(text: &str) -> Option<Option<Pid>> {
    let number = text.parse::<i32>().ok()?;
    Some(Pid::from_raw(number.max(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_read_whatever_its_name_is() {
        let rest = " S 7 8 9 34816 8 4194304 1 2 3 4 5 6 7 8 20 0 1 0 123456 9 9";
        for name in ["sh", "a b", "a) S 1 1 1 (b", "(", ")", "caf\u{e9}", ""] {
            let stat = ProcessStat::parse(format!("42 ({name}){rest}\n").as_bytes());
            let expected = ProcessStat {
                pid: Pid::from_raw(42).unwrap(),
                parent: Pid::from_raw(7),
                group: Pid::from_raw(8),
                session: Pid::from_raw(9),
                began: 123_456,
            };
            assert_eq!(stat, Some(expected), "{name}");
        }
        for cut in [
            "",
            "42",
            "42 (sh",
            "42 (sh) S 7 8 9",
            "x (sh) S 7 8 9 1",
            ") 42 (",
        ] {
            assert_eq!(ProcessStat::parse(cut.as_bytes()), None, "{cut}");
        }
    }

    #[test]
    fn a_process_that_is_being_collected_is_of_no_group() {
        let text = b"42 (sh) X 0 -1 -1 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 123456 9 9\n";
        let stat = ProcessStat::parse(text).unwrap();
        assert_eq!((stat.parent, stat.group, stat.session), (None, None, None));
    }

    #[test]
    fn this_process_follows_its_parent_and_itself_alone() {
        let me = rustix::process::getpid();
        let stat = ProcessStat::read(me).unwrap();
        assert_eq!(stat.pid, me);
        assert!(stat.follows(rustix::process::getppid().unwrap()));
        assert!(!stat.follows(Pid::from_raw(i32::MAX).unwrap()));
        assert_eq!(ProcessStat::read(Pid::from_raw(i32::MAX).unwrap()), None);
    }
}
