//! Unsafe code stands in one file, for what cannot be had without it.

use toml::Table;

use super::{
    Finding,
    code::words,
    tree::{TextFile, Tree},
};

const RULE: &str = "unsafe-code";
const ROOT: &str = "Cargo.toml";
const LINT: &str = "unsafe_code";

/// The files with unsafe code, each with what it is for.
const ALLOWED: &[(&str, &str)] = &[(
    "crates/mcp-runtime/src/connection/process/unix.rs",
    "a child asks to die with its parent between fork and exec, where only the child itself can",
)];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = check_but(tree, ALLOWED);
    findings.extend(denied(tree));
    findings
}

fn check_but(tree: &Tree, allowed: &[(&str, &str)]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.ending(".rs") {
        let lines = unsafe_lines(file);
        if allowed.iter().any(|(path, _)| *path == file.path) {
            continue;
        }
        let message =
            "unsafe code, or leave for it: find a safe way, such as rustix has for system calls";
        findings.extend(
            lines
                .into_iter()
                .map(|line| Finding::new(&file.path, RULE, message).at(line)),
        );
    }
    for (path, _) in allowed {
        let file = tree.files.iter().find(|file| file.path == *path);
        if file.is_none_or(|file| unsafe_lines(file).is_empty()) {
            let message = "may have unsafe code and has none: take it off the list in xtask";
            findings.push(Finding::new(path, RULE, message));
        }
    }
    findings
}

/// The lines, counted from 1, with unsafe code, or with an attribute that allows it.
fn unsafe_lines(file: &TextFile) -> Vec<usize> {
    let code = file.code_lines();
    let is_unsafe = |line: &String| {
        ["unsafe", LINT]
            .iter()
            .any(|word| words(line, word).next().is_some())
    };
    (1..)
        .zip(&code)
        .filter(|(_, line)| is_unsafe(line))
        .map(|(number, _)| number)
        .collect()
}

/// What is not on the list does not compile either.
fn denied(tree: &Tree) -> Option<Finding> {
    // A root that is not TOML is told elsewhere.
    let root: Table = tree.text(ROOT)?.parse().ok()?;
    let lints = root.get("workspace").and_then(|it| it.get("lints"));
    let level = lints.and_then(|lints| lints.get("rust")?.get(LINT)?.as_str());
    (level != Some("deny")).then(|| {
        let message = format!("says `{LINT} = \"deny\"` in [workspace.lints.rust]");
        Finding::new(ROOT, RULE, message)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATH: &str = "crates/a/src/unix.rs";

    /// The lines of `text` that break the rule; 0 stands for the whole file.
    #[track_caller]
    fn check_text(text: &str, allowed: &[(&str, &str)], expected: &[usize]) {
        let findings = check_but(&Tree::of(&[(PATH, text)]), allowed);
        let lines: Vec<_> = findings
            .iter()
            .map(|finding| finding.line.unwrap_or(0))
            .collect();
        assert_eq!(lines, expected, "{text}");
    }

    #[test]
    fn unsafe_code_stands_where_it_is_allowed_and_nowhere_else() {
        for line in [
            "unsafe { f() }",
            "unsafe fn f() {}",
            "unsafe impl Send for A {}",
            "#[allow(unsafe_code, reason = \"why\")]",
            "#![expect(unsafe_code)]",
        ] {
            let text = format!("//! A.\n{line}\n");
            check_text(&text, &[], &[2]);
            check_text(&text, &[(PATH, "why")], &[]);
        }
        for line in ["// unsafe", "let a = \"unsafe\";", "let not_unsafe = 1;"] {
            let text = format!("//! A.\n{line}\n");
            check_text(&text, &[], &[]);
            check_text(&text, &[(PATH, "why")], &[0]);
        }
    }

    #[test]
    fn the_workspace_denies_it() {
        for (level, broken) in [("deny", false), ("forbid", true), ("warn", true)] {
            let root = format!("[workspace.lints.rust]\n{LINT} = \"{level}\"\n");
            let tree = Tree::of(&[(ROOT, root.as_str())]);
            assert_eq!(denied(&tree).is_some(), broken, "{level}");
        }
        let silent = Tree::of(&[(ROOT, "[workspace]\n")]);
        assert!(denied(&silent).is_some(), "nothing is said");
    }
}
