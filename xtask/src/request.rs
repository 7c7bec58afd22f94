//! What the command line asks for.

use std::fmt::{self, Write as _};

use crate::task::{APART, TASKS, Task};
use crate::trial::{TRIALS, Trial};

/// What the command line asks for.
pub(crate) enum Request {
    /// The list of tasks.
    Help,
    /// These tasks, in order.
    Run {
        tasks: Vec<&'static Task>,
        fail_fast: bool,
    },
    /// This trial, with a value for each of its settings.
    Try {
        trial: &'static Trial,
        values: Vec<u64>,
    },
}

/// A command line that names no task.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum RequestError {
    Unknown(String),
    MissingStep,
    FailFastAlone,
    NoNumber(&'static str),
}

impl fmt::Display for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(word) => write!(f, "no task or option is called `{word}`"),
            Self::MissingStep => write!(f, "`--from` needs the name of a step"),
            Self::NoNumber(option) => write!(f, "`{option}` needs a whole number"),
            Self::FailFastAlone => write!(f, "`--from` and `--fail-fast` are options of `ci`"),
        }
    }
}

impl std::error::Error for RequestError {}

impl Request {
    /// Reads the arguments after the program's name.
    ///
    /// # Errors
    ///
    /// When a word is no task, or an option stands where it means nothing.
    pub(crate) fn parse(words: impl IntoIterator<Item = String>) -> Result<Self, RequestError> {
        let mut words = words.into_iter();
        let Some(first) = words.next() else {
            return Ok(Self::Help);
        };
        match first.as_str() {
            "help" | "--help" | "-h" => Ok(Self::Help),
            "ci" => Self::parse_ci(words),
            name if let Some(trial) = TRIALS.iter().find(|trial| trial.name == name) => {
                Self::parse_trial(trial, words)
            }
            _ => {
                let tasks = std::iter::once(first)
                    .chain(words)
                    .map(find)
                    .collect::<Result<_, _>>()?;
                Ok(Self::Run {
                    tasks,
                    fail_fast: false,
                })
            }
        }
    }

    fn parse_trial(
        trial: &'static Trial,
        mut words: impl Iterator<Item = String>,
    ) -> Result<Self, RequestError> {
        let settings = trial.settings;
        let mut values: Vec<_> = settings.iter().map(|setting| setting.default).collect();
        while let Some(word) = words.next() {
            let at = settings.iter().position(|setting| setting.option == word);
            let at = at.ok_or(RequestError::Unknown(word))?;
            let value = words
                .next()
                .and_then(|word| word.replace('_', "").parse().ok());
            values[at] = value.ok_or(RequestError::NoNumber(settings[at].option))?;
        }
        Ok(Self::Try { trial, values })
    }

    fn parse_ci(mut words: impl Iterator<Item = String>) -> Result<Self, RequestError> {
        let mut from = 0;
        let mut fail_fast = false;
        while let Some(word) = words.next() {
            match word.as_str() {
                "--help" | "-h" => return Ok(Self::Help),
                "--fail-fast" => fail_fast = true,
                "--from" => {
                    let step = words.next().ok_or(RequestError::MissingStep)?;
                    from = TASKS
                        .iter()
                        .position(|task| task.name == step)
                        .ok_or(RequestError::Unknown(step))?;
                }
                _ => return Err(RequestError::Unknown(word)),
            }
        }
        Ok(Self::Run {
            tasks: TASKS[from..].iter().collect(),
            fail_fast,
        })
    }
}

fn find(word: String) -> Result<&'static Task, RequestError> {
    if matches!(word.as_str(), "--from" | "--fail-fast") {
        return Err(RequestError::FailFastAlone);
    }
    TASKS
        .iter()
        .chain(APART)
        .find(|task| task.name == word)
        .ok_or(RequestError::Unknown(word))
}

/// The list of tasks, one line each.
pub(crate) fn help() -> String {
    let mut help = String::from(
        "usage: cargo xtask ci [--from STEP] [--fail-fast]\n       cargo xtask STEP...\n       cargo xtask TRIAL [OPTION NUMBER]...\n\n\
         ci runs every step below in this order, goes on after a failure so that one run tells\n\
         everything, and fails if one step failed. It needs a Rust toolchain with rustfmt and clippy;\n\
         git and cargo-nextest are used where they are there.\n\nsteps:\n",
    );
    for task in TASKS {
        let _ = writeln!(help, "  {:<10}  {}", task.name, task.about);
    }
    help.push_str("\nsteps that ci leaves out:\n");
    for task in APART {
        let _ = writeln!(help, "  {:<10}  {}", task.name, task.about);
    }
    help.push_str("\ntrials, which ci runs for a moment and this for long:\n");
    for trial in TRIALS {
        let _ = writeln!(help, "  {:<10}  {}", trial.name, trial.about);
        for setting in trial.settings {
            let (option, default) = (setting.option, setting.default);
            let _ = writeln!(help, "{:14}{option} {default}", "");
        }
    }
    help
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names of the tasks that `line` runs, or why it runs none.
    fn parse(line: &str) -> Result<Vec<&'static str>, RequestError> {
        match Request::parse(line.split_whitespace().map(str::to_owned))? {
            Request::Help => Ok(vec!["help"]),
            Request::Run { tasks, .. } => Ok(tasks.iter().map(|task| task.name).collect()),
            Request::Try { trial, .. } => Ok(vec![trial.name]),
        }
    }

    #[track_caller]
    fn check(line: &str, expected: Result<&[&str], RequestError>) {
        assert_eq!(parse(line), expected.map(<[&str]>::to_vec), "{line:?}");
    }

    #[test]
    fn asks_for_help_in_every_usual_way() {
        for line in ["", "help", "--help", "-h", "ci --help"] {
            check(line, Ok(&["help"]));
        }
    }

    #[test]
    fn ci_runs_every_task_in_order_and_can_start_later() {
        let all: Vec<_> = TASKS.iter().map(|task| task.name).collect();
        check("ci", Ok(&all));
        check("ci --fail-fast --from clippy", Ok(&all[2..]));
    }

    #[test]
    fn runs_the_named_steps_only() {
        check("tidy fmt", Ok(&["tidy", "fmt"]));
        check("interop", Ok(&["interop"]));
    }

    #[test]
    fn refuses_what_it_does_not_know() {
        check("lint", Err(RequestError::Unknown("lint".into())));
        check("tidy --fix", Err(RequestError::Unknown("--fix".into())));
        check("ci tidy", Err(RequestError::Unknown("tidy".into())));
        check("ci --from", Err(RequestError::MissingStep));
        check("ci --from x", Err(RequestError::Unknown("x".into())));
        check(
            "ci --from interop",
            Err(RequestError::Unknown("interop".into())),
        );
        check("tidy --fail-fast", Err(RequestError::FailFastAlone));
    }

    #[test]
    fn a_trial_takes_numbers() {
        let values = |line: &str| match Request::parse(line.split(' ').map(str::to_owned)) {
            Ok(Request::Try { values, .. }) => values,
            _ => Vec::new(),
        };
        assert_eq!(values("fuzz"), [10_000_000, 0]);
        assert_eq!(values("fuzz --seed 7 --inputs 1_000"), [1_000, 7]);
        check("fuzz --seed", Err(RequestError::NoNumber("--seed")));
        check("fuzz --seed x", Err(RequestError::NoNumber("--seed")));
        check("fuzz fmt", Err(RequestError::Unknown("fmt".into())));
    }

    #[test]
    fn lists_every_task() {
        let help = help();
        for task in TASKS.iter().chain(APART) {
            assert!(help.contains(task.name) && help.contains(task.about));
        }
    }
}
