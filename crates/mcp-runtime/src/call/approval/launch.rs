//! What was launched when a tool was approved for longer than a session.

use std::fmt;

use mcp_keys::EnvironmentId;
use sha2::{Digest, Sha256};

use super::hash::Hash;
use crate::config::Transport;
use crate::executor::Executor;

/// What is launched or connected to, wherever it stands in whichever configuration: the SHA-256 of the transport, the
/// command and its arguments, or the URL, of the executor, and of the environment that owns it (A1). An approval that is kept is for the server that was
/// launched like that, and not for another one that has taken its name.
///
/// It is the same in every process, and shown as 64 hex digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LaunchFingerprint(Hash);

impl LaunchFingerprint {
    /// `environment` owns the server, under whichever key it is exposed (K8).
    pub(crate) fn of(
        environment: Option<&EnvironmentId>,
        executor: &Executor,
        transport: &Transport,
    ) -> Self {
        let mut hashed = Sha256::new();
        let mut add = |field: &str| {
            // Prefixed with its length, a field cannot run into the next one.
            hashed.update((field.len() as u64).to_le_bytes());
            hashed.update(field);
        };
        add(environment.map_or("", EnvironmentId::as_str));
        match transport {
            Transport::Stdio(stdio) => {
                add("stdio");
                add(&executor.identity());
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
    use crate::executor::{CommandExecutor, Quoting};

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
            (stdio("docs", &["a", "b"]), "", ""),
            (stdio("docs", &["ab"]), "", ""),
            (stdio("docs", &["a b"]), "", ""),
            (stdio("docs", &["b", "a"]), "", ""),
            (stdio("docsa", &["b"]), "", ""),
            (stdio("docs", &["a", "b"]), "ssh", ""),
            (stdio("docs", &["a", "b"]), "ssh box", ""),
            (stdio("docs", &["a", "b"]), "", "ci"),
            (stdio("docs", &["a", "b"]), "", "devbox"),
            (http("http://127.0.0.1/a"), "", ""),
            (http("http://127.0.0.1/b"), "", ""),
        ];
        let print = |(transport, executor, environment): &(Transport, &str, &str)| {
            let executor = CommandExecutor::new(executor.split_whitespace(), Quoting::None);
            let executor = executor.map_or(Executor::Local, Executor::from);
            let environment = environment.parse::<EnvironmentId>().ok();
            LaunchFingerprint::of(environment.as_ref(), &executor, transport)
        };
        let prints: Vec<_> = launches.iter().map(print).collect();
        for (at, print) in prints.iter().enumerate() {
            assert!(!prints[..at].contains(print), "{:?}", launches[at]);
        }
    }

    /// A1: what reaches the process beside its arguments may change from run to run, tokens among it.
    #[test]
    fn the_environment_of_a_process_does_not_count() {
        let plain = StdioTransport::new("docs");
        let with = plain.clone().env("TOKEN", "1").env_var("HOME").cwd("/tmp");
        let print = |stdio| LaunchFingerprint::of(None, &Executor::Local, &Transport::Stdio(stdio));
        assert_eq!(print(plain), print(with));
    }

    /// A1: it is in files, and a new version has to read them.
    #[test]
    fn a_fingerprint_is_the_same_in_every_process() {
        let print = LaunchFingerprint::of(None, &Executor::Local, &stdio("docs", &["a"]));
        assert_eq!(
            print.to_string(),
            "b0fe41767cdde8dd22a9a2dc692ef2bf4fe0957aca6f4cb35de70b9ccf5dcc0a"
        );
    }
}
