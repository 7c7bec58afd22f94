//! Tests that can go on for longer than a run of all tests has time: `ci` runs them briefly, among the others.

use crate::command::{cargo, run, stdout};
use crate::error::TaskError;

/// One test, and what can be asked of it.
#[derive(Debug)]
pub(crate) struct Trial {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) settings: &'static [Setting],
    /// An example that the test starts.
    program: Option<&'static str>,
    /// What else its environment says.
    environment: &'static [(&'static str, &'static str)],
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

const fn setting(option: &'static str, default: u64, variable: &'static str) -> Setting {
    Setting {
        option,
        default,
        variable,
    }
}

/// Every trial.
pub(crate) static TRIALS: &[Trial] = &[
    Trial {
        name: "fuzz",
        about: "bytes that no server should write, into the decoders of both transports",
        settings: &[
            setting("--inputs", 10_000_000, "MCP_FUZZ_INPUTS"),
            setting("--seed", 0, "MCP_FUZZ_SEED"),
        ],
        program: None,
        environment: &[],
        target: &["--package", "mcp-runtime", "--lib", "--profile", "fuzz"],
        test: "connection::fuzz::no_bytes_harm_a_connection",
    },
    Trial {
        name: "soak",
        about: "calls of many servers that misbehave and die",
        settings: &[
            setting("--calls", 100_000, "MCP_SOAK_CALLS"),
            setting("--servers", 100, "MCP_SOAK_SERVERS"),
            setting("--seed", 1, "MCP_SOAK_SEED"),
        ],
        program: Some("scripted-server"),
        // Otherwise glibc keeps what large messages took, and nothing can be said of the rest.
        environment: &[
            ("MALLOC_MMAP_THRESHOLD_", "131072"),
            ("MALLOC_TRIM_THRESHOLD_", "131072"),
        ],
        target: &["--package", "mcp-runtime", "--test", "soak"],
        test: "every_call_ends_once_and_nothing_is_left",
    },
];

impl Trial {
    /// Runs it with a value for each of its settings.
    ///
    /// # Errors
    ///
    /// When the test fails, or is not there.
    pub(crate) fn run(&self, values: &[u64]) -> Result<(), TaskError> {
        if let Some(program) = self.program {
            let build = ["build", "--package", "mcp-runtime", "--example", program];
            run(&mut cargo(build))?;
        }
        let test = |extra: &[&str]| {
            let mut command = cargo(["test"]);
            let exactly = ["--", "--exact", self.test];
            command.args(self.target).args(exactly).args(extra);
            for (setting, value) in self.settings.iter().zip(values) {
                command.env(setting.variable, value.to_string());
            }
            command.envs(self.environment.iter().copied());
            command
        };
        // A name that nothing has passes: look first.
        if !stdout(&mut test(&["--list"]))?.contains(": test") {
            return Err(TaskError::NoTests { step: self.name });
        }
        run(&mut test(&["--nocapture"]))
    }
}
