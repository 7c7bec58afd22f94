//! The rules of this workspace that no compiler checks.
//!
//! Each check is a plain function from what it looks at to what it found; every finding names file, line
//! and rule and says what to do. `cargo xtask tidy` prints them all, and the test at the end of this file
//! keeps `cargo test -p xtask` red while there is one.

mod closure;
mod code;
mod dependencies;
mod files;
mod graph;
mod links;
mod manifests;
mod platform;
mod source;
mod text;
mod tree;
mod unsafety;

use std::fmt;
use std::path::Path;

use crate::error::TaskError;
use tree::Tree;

/// Something that breaks a rule, or will soon.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Finding {
    /// Relative to the root, with `/`.
    file: String,
    /// From 1; `None` for the file as a whole.
    line: Option<usize>,
    rule: &'static str,
    /// What is wrong and what to do.
    message: String,
    /// Printed, and no more.
    warning: bool,
}

impl Finding {
    fn new(file: &str, rule: &'static str, message: impl Into<String>) -> Self {
        Self {
            file: file.to_owned(),
            line: None,
            rule,
            message: message.into(),
            warning: false,
        }
    }

    /// At a line counted from 1.
    fn at(mut self, line: usize) -> Self {
        self.line = Some(line);
        self
    }

    fn warning(mut self) -> Self {
        self.warning = true;
        self
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.warning { "warning: " } else { "error: " })?;
        f.write_str(&self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": [{}] {}", self.rule, self.message)
    }
}

/// Checks the workspace at `root` and prints every finding.
///
/// # Errors
///
/// When a rule is broken, or the workspace cannot be read.
pub(crate) fn run(root: &Path) -> Result<(), TaskError> {
    let findings = findings(root)?;
    for finding in &findings {
        eprintln!("{finding}");
    }
    match findings.iter().filter(|finding| !finding.warning).count() {
        0 => Ok(()),
        count => Err(TaskError::Findings { count }),
    }
}

/// Everything that the checks have to say about the workspace at `root`, sorted by file.
fn findings(root: &Path) -> Result<Vec<Finding>, TaskError> {
    let tree = Tree::read(root)?;
    let mut findings = Vec::new();
    findings.extend(files::check(&tree));
    findings.extend(source::check(&tree));
    findings.extend(platform::check(&tree));
    findings.extend(unsafety::check(&tree));
    findings.extend(text::check(&tree));
    findings.extend(links::check(&tree));
    findings.extend(manifests::check(&tree));
    findings.extend(dependencies::check(&tree));
    findings.extend(graph::check(&graph::members(root)?));
    findings.extend(closure::check()?);
    findings.sort();
    Ok(findings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_workspace_keeps_its_rules() {
        let findings = findings(&crate::command::workspace_root()).expect("a readable workspace");
        let broken: Vec<_> = findings
            .iter()
            .filter(|finding| !finding.warning)
            .map(Finding::to_string)
            .collect();
        assert!(broken.is_empty(), "\n{}\n", broken.join("\n"));
    }

    #[test]
    fn a_finding_names_file_line_and_rule() {
        let finding = Finding::new("a/b.rs", "print", "use tracing");
        assert_eq!(finding.to_string(), "error: a/b.rs: [print] use tracing");
        assert_eq!(
            finding.at(7).warning().to_string(),
            "warning: a/b.rs:7: [print] use tracing"
        );
    }
}
