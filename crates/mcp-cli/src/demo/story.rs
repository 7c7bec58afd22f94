//! What happened in the demo, step by step, for people or for programs.

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use tokio::time::Instant;

use super::cast::{DEVBOX, DOCS, LOCAL, MISSING};
use crate::exit::ExitStatus;
use crate::report::millis;
use crate::screen::{self, BAD, BOLD, DIM, GOOD, padding, width};

/// The column at which a step's time ends.
const TIME_COLUMN: usize = 76;
/// A cell wider than this moves no other.
const WIDEST_CELL: usize = 48;

/// Everything that happened so far.
#[derive(Debug)]
pub(super) struct Story {
    json: bool,
    begun: Instant,
    steps: Vec<Step>,
}

/// One step: what was done, what came of it, and what was checked.
#[derive(Debug, Serialize)]
pub(super) struct Step {
    title: String,
    ok: bool,
    elapsed_ms: u64,
    checks: Vec<Check>,
    #[serde(flatten)]
    data: BTreeMap<&'static str, Box<RawValue>>,
    #[serde(skip)]
    lines: Vec<Vec<String>>,
    #[serde(skip)]
    begun: Option<Instant>,
}

#[derive(Debug, Serialize)]
struct Check {
    what: String,
    ok: bool,
}

impl Story {
    /// Begins, with a word on what is going to happen.
    pub(super) fn begin(json: bool) -> io::Result<Self> {
        let story = Self {
            json,
            begun: Instant::now(),
            steps: Vec::new(),
        };
        if !json {
            screen::line(format_args!(
                "Two environments, `{LOCAL}` and `{DEVBOX}`, have a server `{DOCS}` each; this program plays both.\n\
                 `{LOCAL}` also has a server `{MISSING}`, whose command does not exist."
            ))?;
        }
        Ok(story)
    }

    /// Takes a step, and tells it.
    pub(super) fn tell(&mut self, mut step: Step) -> io::Result<()> {
        step.elapsed_ms = step.begun.map_or(0, |begun| millis(begun.elapsed()));
        step.ok = step.checks.iter().all(|check| check.ok);
        if !self.json {
            for line in step.render(self.steps.len() + 1) {
                screen::line(line)?;
            }
        }
        self.steps.push(step);
        Ok(())
    }

    /// Ends: whether all went as it should.
    pub(super) fn end(self) -> io::Result<ExitStatus> {
        let elapsed = self.begun.elapsed();
        let ok = self.steps.iter().all(|step| step.ok);
        if self.json {
            screen::raw_line(&self.json(ok, elapsed)?)?;
        } else {
            let checks = || self.steps.iter().flat_map(|step| &step.checks);
            let (wrong, all) = (checks().filter(|check| !check.ok).count(), checks().count());
            let seconds = elapsed.as_secs_f64();
            screen::line("")?;
            if ok {
                screen::line(format_args!(
                    "{GOOD}All {all} checks passed{GOOD:#} in {seconds:.1} s."
                ))?;
            } else {
                screen::line(format_args!(
                    "{BAD}{wrong} of {all} checks failed{BAD:#}, in {seconds:.1} s."
                ))?;
            }
        }
        Ok(if ok {
            ExitStatus::Ok
        } else {
            ExitStatus::ToolError
        })
    }

    fn json(&self, ok: bool, elapsed: Duration) -> io::Result<String> {
        #[derive(Serialize)]
        struct Whole<'a> {
            ok: bool,
            elapsed_ms: u64,
            steps: &'a [Step],
        }
        let whole = Whole {
            ok,
            elapsed_ms: millis(elapsed),
            steps: &self.steps,
        };
        Ok(serde_json::to_string(&whole)?)
    }
}

impl Step {
    /// A step that begins now.
    pub(super) fn new(title: &str) -> Self {
        Self::since(title, Instant::now())
    }

    /// A step that began some time ago.
    pub(super) fn since(title: &str, begun: Instant) -> Self {
        Self {
            title: title.to_owned(),
            ok: false,
            elapsed_ms: 0,
            checks: Vec::new(),
            data: BTreeMap::new(),
            lines: Vec::new(),
            begun: Some(begun),
        }
    }

    /// Adds a line of cells to be shown.
    pub(super) fn line(&mut self, cells: impl IntoIterator<Item = impl Into<String>>) {
        self.lines.push(cells.into_iter().map(Into::into).collect());
    }

    /// Adds what was found out.
    pub(super) fn check(&mut self, what: &str, ok: bool) {
        let what = what.to_owned();
        self.checks.push(Check { what, ok });
    }

    /// Adds data for programs.
    pub(super) fn data(&mut self, name: &'static str, data: &(impl Serialize + ?Sized)) {
        let data = to_raw_value(data).expect("reports and results are JSON");
        self.data.insert(name, data);
    }

    fn render(&self, number: usize) -> Vec<String> {
        let title = format!("{number}  {}", self.title);
        let time = format!("{} ms", self.elapsed_ms);
        let gap = padding(&title, TIME_COLUMN.saturating_sub(width(&time)));
        let heading = format!("{BOLD}{title}{BOLD:#}{gap} {DIM}{time}{DIM:#}");
        let mut lines = vec![String::new(), heading];
        lines.extend(aligned(&self.lines).map(|line| format!("   {line}")));
        lines.extend(self.checks.iter().map(|check| match check.ok {
            true => format!("   {GOOD}✓{GOOD:#} {}", check.what),
            false => format!("   {BAD}✗ not so:{BAD:#} {}", check.what),
        }));
        lines
    }
}

/// Cells below each other. The last one of a line moves none.
fn aligned(lines: &[Vec<String>]) -> impl Iterator<Item = String> {
    let mut widths: Vec<usize> = Vec::new();
    for line in lines {
        let moving = line.split_last().map_or(&[][..], |(_, others)| others);
        for (column, cell) in moving.iter().enumerate() {
            if widths.len() <= column {
                widths.push(0);
            }
            widths[column] = widths[column].max(width(cell).min(WIDEST_CELL));
        }
    }
    lines.iter().map(move |line| {
        let mut text = String::new();
        for (column, cell) in line.iter().enumerate() {
            let cell = screen::summary(cell, usize::MAX);
            let gap = widths.get(column).map(|width| padding(&cell, *width));
            text.push_str(&cell);
            text.push_str(&gap.unwrap_or_default());
            text.push_str("  ");
        }
        text.trim_end().to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_stand_below_each_other() {
        let line = |cells: &[&str]| cells.iter().map(|cell| (*cell).to_owned()).collect();
        let lines = [
            line(&["a", "long one", "end"]),
            line(&["bcd", "x"]),
            line(&["e", "", "f"]),
        ];
        let aligned: Vec<String> = aligned(&lines).collect();
        assert_eq!(
            aligned,
            ["a    long one  end", "bcd  x", "e              f"]
        );
    }

    #[test]
    fn one_check_that_fails_fails_the_step() {
        for (checks, expected) in [(&[true, true][..], true), (&[true, false], false)] {
            let mut story = Story {
                json: true,
                begun: Instant::now(),
                steps: Vec::new(),
            };
            let mut step = Step::new("step");
            for check in checks {
                step.check("so", *check);
            }
            story.tell(step).unwrap();
            assert_eq!(story.steps[0].ok, expected);
        }
    }
}
