//! Names, places and sizes of files.

use std::collections::BTreeSet;

use super::{Finding, tree::Tree};

/// What stands at the top, dot-files aside.
const TOP: &[&str] = &[
    "Cargo.lock",
    "Cargo.toml",
    "README.md",
    "crates",
    "docs",
    "xtask",
];

/// Names that say nothing about what is in the file.
const EMPTY_NAMES: &[&str] = &[
    "common", "helper", "helpers", "manager", "misc", "types", "util", "utils",
];

/// A file longer than this is worth a thought.
const LONG: usize = 400;
/// A file longer than this does not pass.
const TOO_LONG: usize = 600;

/// Files over the limit, each with the reason why it is better in one piece.
const LONG_FOR_A_REASON: &[(&str, &str)] = &[];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = top_level(tree);
    findings.extend(names(tree));
    findings.extend(sizes(tree, LONG_FOR_A_REASON));
    findings
}

fn top_level(tree: &Tree) -> Vec<Finding> {
    let present: BTreeSet<_> = tree
        .paths
        .iter()
        .map(|path| path.split('/').next().unwrap_or(path))
        .filter(|name| !name.starts_with('.'))
        .collect();
    let expected: BTreeSet<_> = TOP.iter().copied().collect();
    let stray = present.difference(&expected).map(|name| {
        let message = format!(
            "does not belong at the top, where only {} and dot-files stand: move or delete it",
            TOP.join(", ")
        );
        Finding::new(name, "top-level", message)
    });
    let missing = expected.difference(&present).map(|name| {
        Finding::new(
            name,
            "top-level",
            "is missing, or a folder without a file in it",
        )
    });
    stray.chain(missing).collect()
}

fn names(tree: &Tree) -> Vec<Finding> {
    let says_nothing = |path: &&String| {
        path.split('/')
            .map(|part| part.strip_suffix(".rs").unwrap_or(part))
            .any(|name| EMPTY_NAMES.contains(&name))
    };
    tree.paths
        .iter()
        .filter(|path| path.ends_with(".rs"))
        .filter(says_nothing)
        .map(|path| {
            let message = "a file or folder is named after its one noun: rename it";
            Finding::new(path, "file-name", message)
        })
        .collect()
}

fn sizes(tree: &Tree, exempt: &[(&str, &str)]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.ending(".rs") {
        let lines = file.text.lines().count();
        let listed = exempt.iter().any(|(path, _)| *path == file.path);
        if lines > TOO_LONG && !listed {
            let message = format!("{lines} lines, and {TOO_LONG} are the limit: split it");
            findings.push(Finding::new(&file.path, "file-size", message));
        } else if lines > LONG && !listed {
            let message = format!("{lines} lines: split it before it reaches {TOO_LONG}");
            findings.push(Finding::new(&file.path, "file-size", message).warning());
        }
    }
    let listed_in_vain = exempt.iter().filter(|(path, _)| {
        let text = tree.text(path).unwrap_or_default();
        text.lines().count() <= TOO_LONG
    });
    findings.extend(listed_in_vain.map(|(path, _)| {
        let message = "is listed as long and is not: take it off the list in xtask";
        Finding::new(path, "file-size", message)
    }));
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The files that `findings` complain about, warnings marked.
    #[track_caller]
    fn check(findings: &[Finding], expected: &[&str]) {
        let found: Vec<_> = findings
            .iter()
            .map(|finding| {
                let mark = if finding.warning { " (warning)" } else { "" };
                format!("{}{mark}", finding.file)
            })
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn the_top_level_is_exactly_what_it_should_be() {
        let whole = [
            ("Cargo.lock", ""),
            ("Cargo.toml", ""),
            ("README.md", ""),
            ("crates/a/Cargo.toml", ""),
            ("docs/a.md", ""),
            ("xtask/Cargo.toml", ""),
            (".ci/run", ""),
        ];
        check(&top_level(&Tree::of(&whole)), &[]);
        check(&top_level(&Tree::of(&whole[1..])), &["Cargo.lock"]);
        let mut stray = whole.to_vec();
        stray.extend([("notes.txt", ""), ("scripts/a.sh", "")]);
        check(&top_level(&Tree::of(&stray)), &["notes.txt", "scripts"]);
    }

    #[test]
    fn names_say_what_is_in_a_file() {
        let tree = Tree::of(&[
            ("crates/a/src/utils.rs", ""),
            ("crates/a/tests/common/mod.rs", ""),
            ("crates/a/src/utility.rs", ""),
            ("crates/a/tests/data/types", ""), // no source file
        ]);
        check(
            &names(&tree),
            &["crates/a/src/utils.rs", "crates/a/tests/common/mod.rs"],
        );
    }

    #[test]
    fn long_files_warn_and_too_long_ones_fail() {
        let lines = |count: usize| "x\n".repeat(count);
        let texts = [lines(400), lines(401), lines(600), lines(601)];
        let tree = Tree::of(&[
            ("a.rs", &texts[0]),
            ("b.rs", &texts[1]),
            ("c.rs", &texts[2]),
            ("d.rs", &texts[3]),
            ("e.md", &texts[3]), // prose is not code
        ]);
        check(
            &sizes(&tree, &[]),
            &["b.rs (warning)", "c.rs (warning)", "d.rs"],
        );
    }

    #[test]
    fn an_exemption_is_honoured_and_must_be_needed() {
        let long = "x\n".repeat(601);
        let tree = Tree::of(&[("a.rs", &long), ("b.rs", "x\n")]);
        check(&sizes(&tree, &[("a.rs", "one table")]), &[]);
        let exempt = [
            ("a.rs", "one table"),
            ("b.rs", "was long"),
            ("c.rs", "gone"),
        ];
        check(&sizes(&tree, &exempt), &["b.rs", "c.rs"]);
    }
}
