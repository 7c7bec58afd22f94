//! A shell that outlives the call that started it.

use std::io::{self, BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use mcp_sandbox_meta::{CapturedAuthority, SandboxCommand, SandboxMetadata};
use serde_json::{Value, json};

/// A running shell and the authority it was started under. Dropped, it ends.
pub(crate) struct Shell {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    authority: CapturedAuthority,
    calls: u32,
}

impl Shell {
    pub(crate) fn start(
        command: SandboxCommand,
        authority: Option<&SandboxMetadata>,
    ) -> io::Result<Self> {
        let mut child = Command::from(command)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let streams = child.stdin.take().zip(child.stdout.take());
        let (input, output) = streams.ok_or(io::ErrorKind::BrokenPipe)?;
        Ok(Self {
            child,
            input,
            output: BufReader::new(output),
            authority: CapturedAuthority::capture(authority),
            calls: 0,
        })
    }

    pub(crate) fn authority(&self) -> &CapturedAuthority {
        &self.authority
    }

    /// Runs a line and returns what it wrote, up to a mark that the shell writes after it.
    pub(crate) fn run(&mut self, line: &str) -> io::Result<Value> {
        self.calls += 1;
        let mark = format!("--- end of call {} with status ", self.calls);
        writeln!(self.input, "{{ {line}\n}} 2>&1\necho \"{mark}$?\"")?;
        let mut written = String::new();
        loop {
            let mut next = String::new();
            if self.output.read_line(&mut next)? == 0 {
                return Err(io::Error::other("the shell has ended"));
            }
            // What was written without a line's end stands before the mark.
            if let Some((before, status)) = next.split_once(&mark) {
                written.push_str(before);
                let status: Option<i32> = status.trim().parse().ok();
                return Ok(json!({ "calls": self.calls, "status": status, "output": written }));
            }
            written.push_str(&next);
        }
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        // What is confined ends with its launcher, and an idle shell with its input. It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
