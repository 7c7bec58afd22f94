//! What was launched when a tool was approved for longer than a session.

use std::fmt;

use sha2::{Digest, Sha256};

use super::hash::Hash;
use crate::config::Transport;

/// What is launched or connected to, wherever it stands in whichever configuration: the SHA-256 of the transport, the
/// command and its arguments, or the URL, and of the executor (A1). An approval that is kept is for the server that was
/// launched like that, and not for another one that has taken its name.
///
/// It is the same in every process, and shown as 64 hex digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LaunchFingerprint(Hash);

impl LaunchFingerprint {
    /// `executor` is the identity of the place where processes run.
    pub(crate) fn of(transport: &Transport, executor: &str) -> Self {
        let mut hashed = Sha256::new();
        let mut add = |field: &str| {
            // Prefixed with its length, a field cannot run into the next one.
            hashed.update((field.len() as u64).to_le_bytes());
            hashed.update(field);
        };
        match transport {
            Transport::Stdio(stdio) => {
                add("stdio");
                add(executor);
                add(&stdio.command);
                stdio.args.iter().for_each(|argument| add(argument));
            }
            // It is reached from here, wherever its environment is.
            Transport::Http(http) => {
                add("http");
                add(http.url.as_str());
            }
        }
        Self(Hash::of(hashed))
    }
}

impl fmt::Display for LaunchFingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for LaunchFingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LaunchFingerprint({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{HttpTransport, StdioTransport};

    fn stdio(command: &str, args: &[&str]) -> Transport {
        Transport::Stdio(StdioTransport::new(command).args(args.iter().copied()))
    }

    fn http(url: &str) -> Transport {
        Transport::Http(HttpTransport::new(url.parse().unwrap()))
    }

    /// A1
    #[test]
    fn every_part_of_a_launch_counts() {
        let launches = [
            (stdio("docs", &["a", "b"]), "local"),
            (stdio("docs", &["ab"]), "local"),
            (stdio("docs", &["a b"]), "local"),
            (stdio("docs", &["b", "a"]), "local"),
            (stdio("docsa", &["b"]), "local"),
            (stdio("docs", &["a", "b"]), "box"),
            (http("http://127.0.0.1/a"), "local"),
            (http("http://127.0.0.1/b"), "local"),
        ];
        let prints: Vec<_> = launches
            .iter()
            .map(|(transport, executor)| LaunchFingerprint::of(transport, executor))
            .collect();
        for (at, print) in prints.iter().enumerate() {
            assert!(!prints[..at].contains(print), "{:?}", launches[at]);
        }
    }

    /// A1: what reaches the process beside its arguments may change from run to run, tokens among it.
    #[test]
    fn the_environment_of_a_process_does_not_count() {
        let plain = StdioTransport::new("docs");
        let with = plain.clone().env("TOKEN", "1").env_var("HOME").cwd("/tmp");
        let print = |stdio| LaunchFingerprint::of(&Transport::Stdio(stdio), "local");
        assert_eq!(print(plain), print(with));
    }

    /// A1: it is in files, and a new version has to read them.
    #[test]
    fn a_fingerprint_is_the_same_in_every_process() {
        let print = LaunchFingerprint::of(&stdio("docs", &["a"]), "local");
        assert_eq!(
            print.to_string(),
            "c487a2930d9051953327e84dfafaec0e55d30409e17c865f796d21ce5badd93c"
        );
    }
}
