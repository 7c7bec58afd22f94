//! Tests that can go on for longer than a run of all tests has time: `ci` runs them briefly, among the others.

use crate::command::{cargo, run, stdout};
use crate::error::TaskError;

/// One test, and what can be asked of it.
#[derive(Debug)]
pub(crate) struct Trial {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) settings: &'static [Setting],
    /// Programs that the test starts.
    programs: &'static [&'static str],
    /// The arguments of `cargo test` up to its own `--`.
    target: &'static [&'static str],
    test: &'static str,
}

/// A number that the test reads from its environment.
#[derive(Debug)]
pub(crate) struct Setting {
    pub(crate) option: &'static str,
    pub(crate) default: u64,
    variable: &'static str,
}

/// Every trial.
pub(crate) static TRIALS: &[Trial] = &[Trial {
    name: "fuzz",
    about: "bytes that no server should write, into the decoders of both transports",
    settings: &[
        Setting {
            option: "--inputs",
            default: 10_000_000,
            variable: "MCP_FUZZ_INPUTS",
        },
        Setting {
            option: "--seed",
            default: 0,
            variable: "MCP_FUZZ_SEED",
        },
    ],
    programs: &[],
    target: &["--package", "mcp-runtime", "--lib", "--profile", "fuzz"],
    test: "connection::fuzz::no_bytes_harm_a_connection",
}];

impl Trial {
    /// Runs it with a value for each of its settings.
    ///
    /// # Errors
    ///
    /// When the test fails, or is not there.
    pub(crate) fn run(&self, values: &[u64]) -> Result<(), TaskError> {
        for program in self.programs {
            run(&mut cargo([
                "build",
                "--package",
                "mcp-runtime",
                "--example",
                program,
            ]))?;
        }
        let test = |extra: &[&str]| {
            let mut command = cargo(["test"]);
            command
                .args(self.target)
                .args(["--", "--exact", self.test])
                .args(extra);
            for (setting, value) in self.settings.iter().zip(values) {
                command.env(setting.variable, value.to_string());
            }
            command
        };
        // A name that nothing has passes: look first.
        if !stdout(&mut test(&["--list"]))?.contains(": test") {
            return Err(TaskError::NoTests { step: self.name });
        }
        run(&mut test(&["--nocapture"]))
    }
}
