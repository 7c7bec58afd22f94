//! Manifests of members: everything that can be shared is said once, at the root.

use toml::{Table, Value};

use super::{Finding, tree::Tree};

const SECTIONS: &[&str] = &["dependencies", "dev-dependencies", "build-dependencies"];
const INHERITED: &[&str] = &["version", "edition", "rust-version", "license"];
/// What a member may say about a dependency beside its name.
const MEMBER_KEYS: &[&str] = &["workspace", "features", "optional"];

/// A dependency in a member's manifest.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) name: String,
    section: String,
    value: Value,
}

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    members(tree)
        .flat_map(|(path, manifest)| match manifest {
            Ok(manifest) => check_manifest(path, &manifest),
            Err(error) => {
                let message = format!("is not TOML: {}", error.message());
                vec![Finding::new(path, "manifest", message)]
            }
        })
        .collect()
}

/// The manifests of the members, with their paths.
pub(super) fn members(tree: &Tree) -> impl Iterator<Item = (&str, Result<Table, toml::de::Error>)> {
    tree.ending("/Cargo.toml")
        .map(|file| (file.path.as_str(), file.text.parse()))
}

/// Every dependency a manifest names, those for one platform included.
pub(super) fn dependencies(manifest: &Table) -> Vec<Entry> {
    let mut found = Vec::new();
    let mut collect = |table: &Table, prefix: &str| {
        for section in SECTIONS {
            let entries = table.get(*section).and_then(Value::as_table);
            for (name, value) in entries.into_iter().flatten() {
                found.push(Entry {
                    name: name.clone(),
                    section: format!("{prefix}{section}"),
                    value: value.clone(),
                });
            }
        }
    };
    collect(manifest, "");
    let targets = manifest.get("target").and_then(Value::as_table);
    for (target, table) in targets.into_iter().flatten() {
        if let Some(table) = table.as_table() {
            collect(table, &format!("target.{target}."));
        }
    }
    found
}

fn check_manifest(path: &str, manifest: &Table) -> Vec<Finding> {
    let mut findings = Vec::new();
    let package = manifest.get("package").and_then(Value::as_table);
    for key in INHERITED {
        if !inherits(package.and_then(|package| package.get(*key))) {
            let message = format!("says `{key}.workspace = true` in [package]");
            findings.push(Finding::new(path, "inherit", message));
        }
    }
    if !inherits(manifest.get("lints")) {
        let message = "has a section [lints] with `workspace = true`";
        findings.push(Finding::new(path, "inherit", message));
    }
    let description = package
        .and_then(|package| package.get("description"))
        .and_then(Value::as_str);
    if description.is_none_or(|text| text.trim().is_empty()) {
        let message = "has a `description` in [package]: one sentence about what the crate is for";
        findings.push(Finding::new(path, "description", message));
    }
    findings.extend(
        dependencies(manifest)
            .iter()
            .filter_map(|entry| local(path, entry)),
    );
    findings
}

fn inherits(value: Option<&Value>) -> bool {
    value
        .and_then(|value| value.get("workspace"))
        .and_then(Value::as_bool)
        == Some(true)
}

/// A dependency that says for itself where it comes from or which version it is.
fn local(path: &str, entry: &Entry) -> Option<Finding> {
    let Entry {
        name,
        section,
        value,
    } = entry;
    let extra = value.as_table().and_then(|table| {
        table
            .keys()
            .find(|key| !MEMBER_KEYS.contains(&key.as_str()))
    });
    let wrong = match extra {
        Some(key) => format!("sets `{key}`"),
        None if inherits(Some(value)) => return None,
        None => String::from("does not come from the workspace"),
    };
    let message = format!(
        "`{name}` in [{section}] {wrong}: name it in [workspace.dependencies] and write \
         `{name}.workspace = true`"
    );
    Some(Finding::new(path, "one-version", message))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "[package]\nname = \"a\"\ndescription = \"A.\"\nversion.workspace = true\n\
                        edition.workspace = true\nrust-version.workspace = true\n\
                        license.workspace = true\n\n[dependencies]\nserde.workspace = true\n\n\
                        [lints]\nworkspace = true\n";

    /// The rules that a manifest breaks.
    #[track_caller]
    fn check_text(text: &str, expected: &[&str]) {
        let findings = check(&Tree::of(&[("crates/a/Cargo.toml", text)]));
        let rules: Vec<_> = findings.iter().map(|finding| finding.rule).collect();
        assert_eq!(rules, expected, "{text}\n{findings:?}");
    }

    #[test]
    fn a_member_inherits_what_can_be_inherited() {
        check_text(GOOD, &[]);
        for key in INHERITED {
            let inherited = format!("\n{key}.workspace = true\n");
            check_text(&GOOD.replace(&inherited, "\n"), &["inherit"]);
            let own = format!("\n{key} = \"1\"\n");
            check_text(&GOOD.replace(&inherited, &own), &["inherit"]);
        }
        check_text(&GOOD.replace("[lints]", "[other]"), &["inherit"]);
    }

    #[test]
    fn a_member_describes_itself() {
        check_text(&GOOD.replace("A.", " "), &["description"]);
        check_text(&GOOD.replace("description", "title"), &["description"]);
    }

    #[test]
    fn versions_are_pinned_at_the_root() {
        for entry in [
            "serde = \"1\"",
            "serde = { version = \"1\" }",
            "serde = { path = \"../serde\" }",
            "serde = { git = \"https://example.com/serde\" }",
            "serde = { workspace = true, default-features = false }",
            "serde = { workspace = false }",
        ] {
            check_text(
                &GOOD.replace("serde.workspace = true", entry),
                &["one-version"],
            );
        }
        let features = "serde = { workspace = true, features = [\"rc\"], optional = true }";
        check_text(&GOOD.replace("serde.workspace = true", features), &[]);
    }

    #[test]
    fn every_kind_of_dependency_is_looked_at() {
        for section in [
            "dev-dependencies",
            "build-dependencies",
            "target.'cfg(unix)'.dependencies",
        ] {
            let text = format!("{GOOD}[{section}]\nlibc = \"1\"\n");
            check_text(&text, &["one-version"]);
        }
    }

    #[test]
    fn what_is_not_toml_is_told() {
        check_text("[package", &["manifest"]);
    }
}
