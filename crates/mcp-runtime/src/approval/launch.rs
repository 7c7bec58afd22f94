//! What is started when a server is.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use mcp_keys::EnvironmentId;
use sha2::{Digest, Sha256};

use super::digest::hexadecimal;
use crate::config::Transport;

/// The digest of how a server is started: its environment, its transport, its command and arguments or its URL (A1).
/// Another program behind the same name does not inherit what was approved. It is the same in every run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LaunchFingerprint([u8; 32]);

hexadecimal!(LaunchFingerprint);

impl LaunchFingerprint {
    pub(crate) fn of(
        environment: Option<&EnvironmentId>,
        executor: &[String],
        cwd: Option<&Path>,
        transport: &Transport,
    ) -> Self {
        let mut fields = Fields(Sha256::new());
        fields.add("environment", environment.map(EnvironmentId::as_str));
        for argument in executor {
            fields.add("executor", Some(argument));
        }
        match transport {
            Transport::Stdio(stdio) => {
                let cwd = stdio.cwd.as_deref().or(cwd).map(Path::to_string_lossy);
                fields.add("cwd", cwd.as_deref());
                fields.add("command", Some(&stdio.command));
                for argument in &stdio.args {
                    fields.add("argument", Some(argument));
                }
            }
            Transport::Http(http) => fields.add("url", Some(http.url.as_str())),
        }
        Self(fields.0.finalize().into())
    }
}

/// Fields with their names and lengths, so that no two lists of them read the same.
struct Fields(Sha256);

impl Fields {
    fn add(&mut self, name: &str, value: Option<&str>) {
        let Some(value) = value else { return };
        for text in [name, value] {
            self.0.update((text.len() as u64).to_be_bytes());
            self.0.update(text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{HttpTransport, StdioTransport};

    fn stdio(command: &str, args: &[&str]) -> Transport {
        Transport::Stdio(StdioTransport::new(command).args(args.iter().copied()))
    }

    /// A1
    #[test]
    fn whatever_starts_another_program_has_another_fingerprint() {
        let http = |url: &str| Transport::Http(HttpTransport::new(url.parse().unwrap()));
        let id = |id: &str| id.parse::<EnvironmentId>().unwrap();
        let (devbox, ci) = (id("devbox"), id("ci"));
        let ssh = ["ssh".to_owned(), "box".to_owned()];
        let of = |environment, executor: &[String], cwd: Option<&str>, transport: &Transport| {
            LaunchFingerprint::of(environment, executor, cwd.map(Path::new), transport)
        };
        let plain = stdio("a", &["b", "c"]);
        let all = [
            of(None, &[], None, &plain),
            of(Some(&devbox), &[], None, &plain),
            of(Some(&ci), &[], None, &plain),
            of(None, &ssh, None, &plain),
            of(None, &ssh[..1], None, &plain),
            of(None, &[], Some("/tmp"), &plain),
            of(None, &[], None, &stdio("a", &["bc"])),
            of(None, &[], None, &stdio("a", &["b"])),
            of(None, &[], None, &stdio("ab", &["c"])),
            of(None, &[], None, &http("http://a/b")),
            of(None, &[], None, &http("http://a/c")),
        ];
        for (n, one) in all.iter().enumerate() {
            assert_eq!(all.iter().filter(|other| *other == one).count(), 1, "{n}");
        }
        assert_eq!(all[0], of(None, &[], None, &stdio("a", &["b", "c"])));
    }

    /// A1: persisted approvals are read by later versions. What the child's variables are does not count.
    #[test]
    fn a_fingerprint_is_the_same_for_ever() {
        let transport = StdioTransport::new("npx")
            .args(["-y", "server"])
            .env("TOKEN", "t");
        let print = LaunchFingerprint::of(None, &[], None, &Transport::Stdio(transport));
        insta::assert_snapshot!(print, @"c0c975cb510b4fd51b70f52f100f810eefe30da9a34071c09d027975524ec9ed");
    }
}
