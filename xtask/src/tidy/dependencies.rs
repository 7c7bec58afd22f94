//! `[workspace.dependencies]`: every entry has a version, a reason and a user.

use std::collections::BTreeSet;

use toml::{Table, Value};

use super::{Finding, manifests, tree::Tree};

const ROOT: &str = "Cargo.toml";

/// By path only: with a version, cargo would demand that it be published first.
const PATH_ONLY: &str = "mcp-testkit";

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let text = tree.text(ROOT).unwrap_or_default();
    let root: Table = match text.parse() {
        Ok(root) => root,
        Err(error) => {
            let message = format!("is not TOML: {}", error.message());
            return vec![Finding::new(ROOT, "manifest", message)];
        }
    };
    let entries = root
        .get("workspace")
        .and_then(|workspace| workspace.get("dependencies"))
        .and_then(Value::as_table);
    let used = used(tree);
    let mut findings = Vec::new();
    for (name, value) in entries.into_iter().flatten() {
        let (line, reason) = reason(text, name);
        let complaints = [
            sourced(name, value),
            reasoned(name, reason.as_deref()),
            needed(name, &used),
        ];
        for (rule, message) in complaints.into_iter().flatten() {
            findings.push(Finding::new(ROOT, rule, message).at(line));
        }
    }
    findings
}

type Complaint = (&'static str, String);

/// The names that members use.
fn used(tree: &Tree) -> BTreeSet<String> {
    manifests::members(tree)
        .filter_map(|(_, manifest)| manifest.ok())
        .flat_map(|manifest| manifests::dependencies(&manifest))
        .map(|entry| entry.name)
        .collect()
}

fn needed(name: &str, used: &BTreeSet<String>) -> Option<Complaint> {
    (!used.contains(name)).then(|| {
        let message = format!("no member uses `{name}`: remove the line");
        ("unused-dependency", message)
    })
}

fn sourced(name: &str, value: &Value) -> Option<Complaint> {
    let version = value.is_str() || value.get("version").is_some();
    let path = value.get("path").is_some();
    let wrong = if value.get("git").is_some() {
        "comes from git: use a released version"
    } else if name == PATH_ONLY && (version || !path) {
        "is never published: give a path and no version"
    } else if name != PATH_ONLY && !version {
        "needs a version"
    } else {
        return None;
    };
    Some(("dependency-source", format!("`{name}` {wrong}")))
}

fn reasoned(name: &str, reason: Option<&str>) -> Option<Complaint> {
    let enough =
        reason.is_some_and(|reason| reason.len() >= 10 && reason.split_whitespace().count() >= 2);
    (!enough).then(|| {
        let message = format!("say why `{name}` is here in a comment `# ...` behind it");
        ("dependency-reason", message)
    })
}

/// The line on which the entry begins, and the comment behind it.
fn reason(text: &str, name: &str) -> (usize, Option<String>) {
    let mut section = "";
    let mut begun = None;
    let mut open = 0_usize;
    for (number, line) in (1..).zip(text.lines()) {
        let trimmed = line.trim();
        if trimmed.starts_with('[') && begun.is_none() {
            section = trimmed;
        }
        let key = trimmed.split(['=', '.', ' ']).next().unwrap_or("");
        let here = section.starts_with("[workspace.dependencies]") && key.trim_matches('"') == name;
        if here && begun.is_none() {
            begun = Some(number);
        }
        // An entry over several lines has its comment on the last one.
        if let Some(begun) = begun {
            let (code, comment) = split_comment(line);
            open += code.matches(['[', '{']).count();
            open = open.saturating_sub(code.matches([']', '}']).count());
            if open == 0 {
                return (begun, comment.map(|comment| comment.trim().to_owned()));
            }
        }
    }
    (begun.unwrap_or(1), None)
}

/// Splits at the first `#` outside quotes.
fn split_comment(line: &str) -> (&str, Option<&str>) {
    let mut quoted = false;
    for (at, character) in line.char_indices() {
        match character {
            '"' => quoted = !quoted,
            '#' if !quoted => return (&line[..at], Some(&line[at + 1..])),
            _ => {}
        }
    }
    (line, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEMBER: &str = "[dependencies]\nserde.workspace = true\n";

    /// The rules that this entry breaks.
    #[track_caller]
    fn check_entry(entry: &str, expected: &[&str]) {
        let root =
            format!("[workspace]\nresolver = \"3\"\n\n[workspace.dependencies]\n# -- x\n{entry}\n");
        let tree = Tree::of(&[
            (ROOT, &root),
            ("crates/a/Cargo.toml", MEMBER),
            (
                "crates/b/Cargo.toml",
                "[dev-dependencies]\nmcp-testkit.workspace = true\n",
            ),
        ]);
        let findings = check(&tree);
        let rules: Vec<_> = findings.iter().map(|finding| finding.rule).collect();
        assert_eq!(rules, expected, "{entry}");
        assert!(
            findings.iter().all(|finding| finding.line == Some(6)),
            "{findings:?}"
        );
    }

    #[test]
    fn every_dependency_has_a_reason_of_some_substance() {
        check_entry("serde = \"1\" # the field's standard", &[]);
        check_entry(
            "serde = { version = \"1\", features = [\n  \"rc\"\n] } # the field's standard",
            &[],
        );
        for entry in [
            "serde = \"1\"",
            "serde = \"1\" # serde",
            "serde = \"1\" # needed",
            "serde = { version = \"1\", features = [\"a#b is no reason\"] }",
        ] {
            check_entry(entry, &["dependency-reason"]);
        }
    }

    #[test]
    fn every_dependency_is_used() {
        check_entry(
            "libc = \"1\" # calls into the system",
            &["unused-dependency"],
        );
    }

    #[test]
    fn dependencies_are_released_versions() {
        let git = "serde = { git = \"https://example.com/serde\" } # the field's standard";
        check_entry(git, &["dependency-source"]);
        let bare = "serde = { path = \"crates/serde\" } # the field's standard";
        check_entry(bare, &["dependency-source"]);
    }

    #[test]
    fn the_testkit_is_named_by_path_only() {
        let path = "mcp-testkit = { path = \"crates/mcp-testkit\" } # scripted servers";
        check_entry(path, &[]);
        let version = "mcp-testkit = { path = \"x\", version = \"0.1.0\" } # scripted servers";
        check_entry(version, &["dependency-source"]);
    }
}
