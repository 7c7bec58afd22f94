//! What may not stand in any text file.

use super::{
    Finding,
    tree::{TextFile, Tree},
};

/// Written by cargo.
const GENERATED: &[&str] = &["Cargo.lock"];

/// Paths of somebody's machine, in two pieces, so that this file may name them.
const MACHINE_PATHS: &[&str] = &[
    concat!("/wo", "rk/"),
    concat!("/tmp/ba", "sh_"),
    concat!("/ro", "ot/"),
    concat!("/ho", "me/"),
];
/// The home folder of examples.
const EXAMPLE_HOME: &str = concat!("/ho", "me/user");

/// Where packages come from is a setting of a machine.
const REGISTRIES: &[&str] = &[
    concat!("index.crates", ".io"),
    concat!("static.crates", ".io"),
    concat!("sparse+", "http"),
    concat!("registry+", "http"),
];

/// Kinds of files whose white space people read and edit. Data for tests is kept to the byte.
const EDITED: &[&str] = &[".rs", ".md", ".toml", ".yaml"];
/// Those in which a tab is never right.
const WITHOUT_TABS: &[&str] = &[".rs", ".md"];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    tree.files
        .iter()
        .filter(|file| !GENERATED.contains(&file.path.as_str()))
        .flat_map(check_file)
        .collect()
}

fn check_file(file: &TextFile) -> Vec<Finding> {
    let has_ending = |endings: &[&str]| endings.iter().any(|ending| file.path.ends_with(ending));
    let edited = has_ending(EDITED);
    let without_tabs = has_ending(WITHOUT_TABS);
    let mut findings = Vec::new();
    // Not `lines()`, which hides carriage returns.
    for (line, text) in (1..).zip(file.text.split('\n')) {
        let complaints = [
            machine_path(text),
            registry(text),
            trailing_space(text).filter(|_| edited),
            tab(text).filter(|_| without_tabs),
        ];
        for (rule, message) in complaints.into_iter().flatten() {
            findings.push(Finding::new(&file.path, rule, message).at(line));
        }
    }
    if edited {
        findings.extend(end_of_file(file));
    }
    findings
}

type Complaint = (&'static str, String);

fn machine_path(line: &str) -> Option<Complaint> {
    let found = MACHINE_PATHS.iter().find(|path| {
        line.match_indices(**path).any(|(at, _)| {
            // A path below something else is not the machine's.
            let below = |before: char| before.is_alphanumeric() || "_-.}".contains(before);
            !line[..at].ends_with(below) && !line[at..].starts_with(EXAMPLE_HOME)
        })
    })?;
    Some((
        "machine-path",
        format!(
            "`{found}` is a path of one machine: use a relative one, or {EXAMPLE_HOME} in an example"
        ),
    ))
}

fn registry(line: &str) -> Option<Complaint> {
    let found = REGISTRIES.iter().find(|host| line.contains(**host))?;
    Some((
        "registry-host",
        format!("`{found}`: where packages come from is a setting of a machine"),
    ))
}

fn trailing_space(line: &str) -> Option<Complaint> {
    line.ends_with(char::is_whitespace).then(|| {
        let message = "white space at the end of the line: remove it";
        ("white-space", String::from(message))
    })
}

fn tab(line: &str) -> Option<Complaint> {
    line.contains('\t').then(|| {
        let message = "a tab: indent with spaces, write `\\t` in a literal";
        ("white-space", String::from(message))
    })
}

fn end_of_file(file: &TextFile) -> Option<Finding> {
    let ends_well = file.text.ends_with('\n') && !file.text.ends_with("\n\n");
    (!ends_well && !file.text.is_empty()).then(|| {
        let message = "ends with exactly one line feed";
        Finding::new(&file.path, "white-space", message)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rules that `text` at `path` breaks, with lines; 0 stands for the whole file.
    #[track_caller]
    fn check_text(path: &str, text: &str, expected: &[(&str, usize)]) {
        let findings = check(&Tree::of(&[(path, text)]));
        let found: Vec<_> = findings
            .iter()
            .map(|finding| (finding.rule, finding.line.unwrap_or(0)))
            .collect();
        assert_eq!(found, expected, "{path}: {text:?}");
    }

    #[test]
    fn no_path_of_a_machine_in_any_text_file() {
        for path in MACHINE_PATHS {
            let text = format!("x\n\"{path}x\"\n");
            check_text("crates/a/tests/data.json", &text, &[("machine-path", 2)]);
            check_text("Cargo.lock", &text, &[]);
        }
    }

    #[test]
    fn example_homes_and_longer_paths_are_nobodys_machine() {
        let text = format!("{EXAMPLE_HOME}/project and docs{}x\n", MACHINE_PATHS[0]);
        check_text("docs/a.md", &text, &[]);
    }

    #[test]
    fn no_registry_host_but_in_the_lock_file() {
        for host in REGISTRIES {
            check_text(
                ".cargo/config.toml",
                &format!("{host}\n"),
                &[("registry-host", 1)],
            );
            check_text("Cargo.lock", &format!("{host}\n"), &[]);
        }
    }

    #[test]
    fn no_white_space_nobody_sees() {
        check_text("a.rs", "x \ny\n", &[("white-space", 1)]);
        check_text("a.md", "x\r\ny\n", &[("white-space", 1)]);
        check_text("a.rs", "\tx\n", &[("white-space", 1)]);
        check_text("a.txt", "\tx \n", &[]); // data for a test
    }

    #[test]
    fn a_file_ends_with_one_line_feed() {
        check_text("a.toml", "x\n", &[]);
        check_text("a.toml", "x", &[("white-space", 0)]);
        check_text("a.toml", "x\n\n", &[("white-space", 0)]);
        check_text("a.json", "x", &[]);
    }
}
