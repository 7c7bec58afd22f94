//! Code that names an operating system stands in `unix.rs` and `windows.rs`, or below them; a test may be for one system.

use super::{
    Finding,
    code::words,
    tree::{TextFile, Tree},
};

const RULE: &str = "platform";

/// Files that name an operating system elsewhere, each with the reason.
const EXEMPT: &[(&str, &str)] = &[];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    check_but(tree, EXEMPT)
}

fn check_but(tree: &Tree, exempt: &[(&str, &str)]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.ending(".rs").filter(|file| !is_platform_file(file)) {
        if !exempt.iter().any(|(path, _)| *path == file.path) {
            findings.extend(check_file(file));
        }
    }
    for (path, _) in exempt {
        let file = tree.files.iter().find(|file| file.path == *path);
        if file.is_none_or(|file| check_file(file).is_empty()) {
            let message = "is exempt and need not be: take it off the list in xtask";
            findings.push(Finding::new(path, RULE, message));
        }
    }
    findings
}

/// A whole test target is code for whatever its tests are for: what it tries can be had on one system only.
fn is_platform_file(file: &TextFile) -> bool {
    let name = file.path.rsplit('/').next().unwrap_or(&file.path);
    let below = ["/tests/it/", "/unix/", "/windows/"];
    matches!(name, "unix.rs" | "windows.rs")
        || below.iter().any(|folder| file.path.contains(folder))
}

fn check_file(file: &TextFile) -> Vec<Finding> {
    let code = file.code_lines();
    (0..code.len())
        .filter(|&at| names_system(&code[at]) && !selects_module(&code, at))
        .map(|at| {
            let message = "names an operating system: move it into unix.rs or windows.rs beside \
                           this file, and select that with `#[cfg(unix)] mod unix;`";
            Finding::new(&file.path, RULE, message).at(at + 1)
        })
        .collect()
}

fn names_system(code: &str) -> bool {
    let conditional = ["cfg", "cfg_attr"].iter().any(|name| {
        words(code, name).any(|at| {
            let condition = &code[at + name.len()..];
            ["unix", "windows"]
                .iter()
                .any(|system| words(condition, system).next().is_some())
        })
    });
    let compact: String = code.split_whitespace().collect();
    conditional
        || compact.contains("std::os::")
        || words(code, "target_os").next().is_some()
        || words(code, "target_family").next().is_some()
}

/// Whether the attribute at this line selects `mod unix;`, or a `use` of what is in it.
fn selects_module(code: &[String], at: usize) -> bool {
    let line = code[at].trim();
    let Some((attribute, rest)) = line.split_once(']') else {
        return false;
    };
    let system = match attribute {
        "#[cfg(unix)" => "unix",
        "#[cfg(windows)" => "windows",
        _ => return false,
    };
    let item = std::iter::once(rest)
        .chain(code[at + 1..].iter().map(String::as_str))
        .map(str::trim)
        .find(|line| !line.is_empty() && !line.starts_with("#["));
    let Some(item) = item else { return false };
    let item = match item.strip_prefix("pub") {
        Some(rest) => rest.split_once(' ').map_or("", |(_, item)| item),
        None => item,
    };
    let names_it = |keyword: &str, ends: &[&str]| {
        let rest = item
            .strip_prefix(keyword)
            .and_then(|rest| rest.strip_prefix(system));
        rest.is_some_and(|rest| ends.iter().any(|end| rest.starts_with(end)))
    };
    let item_ends = [";", "::", " as "];
    names_it("mod ", &[";"]) || names_it("use ", &item_ends) || names_it("use self::", &item_ends)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines of `text` that break the rule.
    #[track_caller]
    fn check_text(path: &str, text: &str, expected: &[usize]) {
        let findings = check_but(&Tree::of(&[(path, text)]), &[]);
        let lines: Vec<_> = findings.iter().filter_map(|finding| finding.line).collect();
        assert_eq!(lines, expected, "{path}: {text}");
    }

    #[test]
    fn a_system_is_named_in_its_own_file_only() {
        for line in [
            "#[cfg(unix)]",
            "#[cfg(not(windows))]",
            "#[cfg(all(test, unix))]",
            "#[cfg(target_os = \"linux\")]",
            "#[cfg_attr(windows, path = \"x.rs\")]",
            "if cfg!(windows) {",
            "use std::os::fd::AsFd;",
        ] {
            let text = format!("{line}\nfn f() {{}}\n");
            check_text("crates/a/src/process/mod.rs", &text, &[1]);
            check_text("crates/a/src/process/unix.rs", &text, &[]);
            check_text("crates/a/src/process/windows.rs", &text, &[]);
            check_text("crates/a/src/process/unix/tree.rs", &text, &[]);
            check_text("crates/a/tests/it/shutdown.rs", &text, &[]);
        }
    }

    #[test]
    fn a_module_may_select_the_file() {
        let text = "#[cfg(unix)]\nmod unix;\n#[cfg(windows)]\n#[rustfmt::skip]\nmod windows;\n\
                    #[cfg(unix)]\npub(crate) use unix::Group;\n#[cfg(windows)] mod windows;\n\
                    #[cfg(unix)]\nuse unix as platform;\n";
        check_text("crates/a/src/process/mod.rs", text, &[]);
    }

    #[test]
    fn nothing_else_hides_behind_such_a_line() {
        let text = "#[cfg(unix)]\nmod linux;\n#[cfg(unix)]\nfn unix() {}\n#[cfg(windows)]\nmod unix;\n\
                    #[cfg(unix)]\n";
        check_text("crates/a/src/process/mod.rs", text, &[1, 3, 5, 7]);
    }

    #[test]
    fn comments_strings_and_other_words_do_not_count() {
        let text = "// cfg(unix)\nconst A: &str = \"std::os::unix\";\nlet unix = cfg(x);\n\
                    #[cfg(feature = \"unix\")]\n";
        check_text("crates/a/src/lib.rs", text, &[]);
    }

    #[test]
    fn an_exemption_is_honoured_and_must_be_needed() {
        let tree = Tree::of(&[("a.rs", "use std::os::fd::AsFd;\n"), ("b.rs", "\n")]);
        assert_eq!(check_but(&tree, &[("a.rs", "why")]), []);
        let exempt = [("a.rs", "why"), ("b.rs", "none"), ("c.rs", "gone")];
        let findings = check_but(&tree, &exempt);
        let files: Vec<_> = findings.iter().map(|finding| &finding.file[..]).collect();
        assert_eq!(files, ["b.rs", "c.rs"]);
    }
}
