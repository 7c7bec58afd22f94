//! Runs tasks one after the other and sums up.

#[expect(
    clippy::disallowed_types,
    reason = "wall time of a program without an executor"
)]
use std::time::Instant;

use std::error::Error;
use std::fmt::Write as _;
use std::process::ExitCode;
use std::time::Duration;

use crate::error::TaskError;
use crate::task::{Session, Task};

/// How one task went.
struct Report {
    name: &'static str,
    elapsed: Duration,
    result: Result<(), TaskError>,
}

/// Runs `tasks` and prints a table. After a failure it goes on, unless `fail_fast`: a contributor who
/// waits for CI wants to know everything that is wrong, not the first thing.
pub(crate) fn run(tasks: &[&Task], fail_fast: bool) -> ExitCode {
    let mut session = Session::default();
    let mut reports = Vec::new();
    for task in tasks {
        let report = timed(task.name, task.about, || (task.run)(&mut session));
        let failed = report.result.is_err();
        reports.push(report);
        if failed && fail_fast {
            break;
        }
    }
    if tasks.len() > 1 {
        eprint!("\n{}", table(&reports));
    }
    verdict(&reports)
}

/// Runs one thing that is no task.
pub(crate) fn run_alone(
    name: &'static str,
    about: &str,
    run: impl FnOnce() -> Result<(), TaskError>,
) -> ExitCode {
    verdict(&[timed(name, about, run)])
}

fn timed(name: &'static str, about: &str, run: impl FnOnce() -> Result<(), TaskError>) -> Report {
    eprintln!("\n==== {name}: {about}");
    #[expect(clippy::disallowed_types, reason = "see the import")]
    let begun = Instant::now();
    let result = run();
    let elapsed = begun.elapsed();
    if let Err(error) = &result {
        eprintln!("error: {}", chain(error));
    }
    eprintln!("==== {name}: {:.1} s", elapsed.as_secs_f64());
    Report {
        name,
        elapsed,
        result,
    }
}

fn verdict(reports: &[Report]) -> ExitCode {
    if reports.iter().all(|report| report.result.is_ok()) {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(source) = next {
        let _ = write!(text, ": {source}");
        next = source.source();
    }
    text
}

fn table(reports: &[Report]) -> String {
    let mut table = String::new();
    for report in reports {
        let verdict = match &report.result {
            Ok(()) => String::from("ok"),
            Err(error) => format!("FAILED: {error}"),
        };
        let seconds = report.elapsed.as_secs_f64();
        let _ = writeln!(table, "{:<10} {seconds:>7.1} s  {verdict}", report.name);
    }
    let total: Duration = reports.iter().map(|report| report.elapsed).sum();
    let failed = reports.iter().filter(|report| report.result.is_err());
    let verdict = match failed.count() {
        0 => String::from("ok"),
        failed => format!("{failed} failed"),
    };
    let seconds = total.as_secs_f64();
    let _ = writeln!(table, "{:<10} {seconds:>7.1} s  {verdict}", "total");
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(name: &'static str, millis: u64, result: Result<(), TaskError>) -> Report {
        Report {
            name,
            elapsed: Duration::from_millis(millis),
            result,
        }
    }

    #[test]
    fn the_table_tells_time_and_verdict_of_each_step_and_of_all() {
        let reports = [
            report("fmt", 800, Ok(())),
            report("tidy", 1_200, Err(TaskError::Findings { count: 3 })),
        ];
        assert_eq!(
            table(&reports),
            "fmt            0.8 s  ok\n\
             tidy           1.2 s  FAILED: 3 to fix, listed above\n\
             total          2.0 s  1 failed\n"
        );
    }

    #[test]
    fn goes_on_after_a_failure_unless_told_otherwise() {
        let fails = Task {
            name: "fails",
            about: "for this test",
            run: |_| Err(TaskError::Findings { count: 1 }),
        };
        let passes = Task {
            name: "passes",
            about: "for this test",
            run: |session| {
                session.tests_passed = Some(true);
                Ok(())
            },
        };
        for (tasks, fail_fast, expected) in [
            (vec![&passes], false, ExitCode::SUCCESS),
            (vec![&fails, &passes], false, ExitCode::FAILURE),
            (vec![&fails, &passes], true, ExitCode::FAILURE),
        ] {
            // An exit code compares by nothing but its debug text.
            assert_eq!(
                format!("{:?}", run(&tasks, fail_fast)),
                format!("{expected:?}")
            );
        }
    }

    #[test]
    fn prints_every_message_of_a_chain_once() {
        let error = TaskError::Start {
            command: "git".into(),
            source: std::io::Error::other("not there"),
        };
        assert_eq!(chain(&error), "cannot start `git`: not there");
    }
}
