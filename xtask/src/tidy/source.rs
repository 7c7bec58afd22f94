//! What may not stand in Rust source.

use super::{
    Finding,
    code::{invokes, words},
    tree::{TextFile, Tree},
};
use crate::task::APART;

/// The crates that print.
const PRINTERS: &[&str] = &["crates/mcp-cli/", "xtask/"];

const PRINTING: &[&str] = &["print", "println", "eprint", "eprintln", "dbg"];
const UNFINISHED_MACROS: &[&str] = &["todo", "unimplemented"];
/// In two pieces, so that this file may name them.
const UNFINISHED_MARKS: &[&str] = &[concat!("FIX", "ME"), concat!("XX", "X")];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    tree.ending(".rs").flat_map(check_file).collect()
}

fn check_file(file: &TextFile) -> Vec<Finding> {
    let mut findings = Vec::new();
    findings.extend(documented(file));
    let code = file.code_lines();
    for ((line, raw), code) in file.lines().zip(&code) {
        let complaints = [
            printing(&file.path, code),
            ignored(raw, code),
            unfinished(raw, code),
        ];
        for (rule, message) in complaints.into_iter().flatten() {
            findings.push(Finding::new(&file.path, rule, message).at(line));
        }
    }
    findings
}

type Complaint = (&'static str, String);

fn documented(file: &TextFile) -> Option<Finding> {
    if file.text.starts_with("//!") {
        return None;
    }
    let message = "line 1 is a `//!` sentence that says what the file is";
    Some(Finding::new(&file.path, "file-doc", message).at(1))
}

fn printing(path: &str, code: &str) -> Option<Complaint> {
    if PRINTERS.iter().any(|printer| path.starts_with(printer)) {
        return None;
    }
    let name = PRINTING.iter().find(|name| invokes(code, name))?;
    Some((
        "print",
        format!("`{name}!` outside mcp-cli and xtask: use tracing, or return it"),
    ))
}

/// A test that needs more than a toolchain is run by a step that says so.
fn ignored(raw: &str, code: &str) -> Option<Complaint> {
    let run_elsewhere = APART.iter().any(|step| {
        let attribute = format!("#[ignore = \"run by cargo xtask {}\"]", step.name);
        raw.trim() == attribute
    });
    let plain = code.contains("#[ignore");
    let conditional = code.contains("cfg_attr") && words(code, "ignore").next().is_some();
    ((plain && !run_elsewhere) || conditional).then(|| {
        let message = "a test that does not run proves nothing: make it run or delete it";
        ("ignored-test", String::from(message))
    })
}

fn unfinished(raw: &str, code: &str) -> Option<Complaint> {
    let marks = UNFINISHED_MARKS
        .iter()
        .filter(|mark| words(raw, mark).next().is_some())
        .map(|mark| (*mark).to_owned());
    let macros = UNFINISHED_MACROS
        .iter()
        .filter(|name| invokes(code, name))
        .map(|name| format!("{name}!"));
    let found = marks.chain(macros).next()?;
    Some((
        "unfinished",
        format!("`{found}`: finish it, or say plainly what is not done and why"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rules that `text` at `path` breaks, with lines.
    #[track_caller]
    fn check_text(path: &str, text: &str, expected: &[(&str, usize)]) {
        let findings = check(&Tree::of(&[(path, text)]));
        let found: Vec<_> = findings
            .iter()
            .map(|finding| (finding.rule, finding.line.unwrap_or(0)))
            .collect();
        assert_eq!(found, expected, "{path}: {text}");
    }

    #[test]
    fn every_file_opens_with_its_documentation() {
        check_text("crates/a/src/lib.rs", "//! A.\n", &[]);
        for text in ["", "\n//! A.\n", "#![allow(x)]\n//! A.\n", "// A.\n"] {
            check_text("crates/a/tests/it/main.rs", text, &[("file-doc", 1)]);
        }
    }

    #[test]
    fn libraries_tests_and_benches_do_not_print() {
        for name in PRINTING {
            let text = format!("//! A.\nfn f() {{ {name}!(\"x\"); }}\n");
            for path in ["crates/a/src/lib.rs", "crates/a/tests/it/main.rs"] {
                check_text(path, &text, &[("print", 2)]);
            }
            for path in ["crates/mcp-cli/src/main.rs", "xtask/src/main.rs"] {
                check_text(path, &text, &[]);
            }
        }
    }

    #[test]
    fn comments_and_strings_may_speak_of_printing() {
        let text = "//! A.\n/// println!(\"x\")\nconst A: &str = \"dbg!(x)\";\n";
        check_text("crates/a/src/lib.rs", text, &[]);
    }

    #[test]
    fn no_test_is_ignored_but_those_that_a_step_of_their_own_runs() {
        for attribute in [
            "#[ignore]",
            "#[ignore = \"slow\"]",
            "#[ignore = \"run by cargo xtask nobody\"]",
            "#[cfg_attr(windows, ignore)]",
        ] {
            let text = format!("//! A.\n#[test]\n{attribute}\nfn f() {{}}\n");
            check_text("crates/a/src/lib.rs", &text, &[("ignored-test", 3)]);
        }
        for line in [
            "fn ignore(ignore: bool) {}",
            "#[ignore = \"run by cargo xtask interop\"]",
        ] {
            let text = format!("//! A.\n{line}\n");
            check_text("crates/a/src/lib.rs", &text, &[]);
        }
    }

    #[test]
    fn nothing_is_left_for_later() {
        for (word, line) in [
            (UNFINISHED_MARKS[0], "// ? later"),
            (UNFINISHED_MARKS[1], "let x = 1; // ?"),
            ("todo!", "fn f() { ?() }"),
            ("unimplemented!", "fn f() { ?() }"),
        ] {
            let text = format!("//! A.\n{}\n", line.replace('?', word));
            check_text("xtask/src/main.rs", &text, &[("unfinished", 2)]);
        }
        let text = format!("//! A.\n// {}X and todo are words\n", UNFINISHED_MARKS[1]);
        check_text("xtask/src/main.rs", &text, &[]);
    }
}
