//! Who may know whom: the crates of this workspace and the edges between them.

use std::path::Path;

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand};

use super::Finding;
use crate::command::cargo_program;
use crate::error::TaskError;

const RULE: &str = "crate-graph";

/// A crate's place in the architecture.
struct Row {
    name: &'static str,
    /// Our crates it may depend on, in code and in tests.
    knows: &'static [&'static str],
    published: bool,
    /// Why no more than that.
    reason: &'static str,
}

const ROWS: &[Row] = &[
    Row {
        name: "mcp-keys",
        knows: &[],
        published: true,
        reason: "identity is pure and depends on nothing of ours",
    },
    Row {
        name: "mcp-catalog",
        knows: &["mcp-keys"],
        published: true,
        reason: "listings are generic over what is listed and need only identity",
    },
    Row {
        name: "mcp-sandbox-meta",
        knows: &[],
        published: true,
        reason: "the author of a server uses it without the rest",
    },
    Row {
        name: "mcp-telemetry",
        knows: &[],
        published: true,
        reason: "classification serves hosts that do not use the facade",
    },
    Row {
        name: "mcp-runtime",
        knows: &[
            "mcp-keys",
            "mcp-catalog",
            "mcp-sandbox-meta",
            "mcp-telemetry",
        ],
        published: true,
        reason: "the facade composes the four leaves and nothing else",
    },
    Row {
        name: "mcp-cli",
        knows: &["mcp-runtime"],
        published: true,
        reason: "the program uses what a host can use: the facade",
    },
    Row {
        name: TESTKIT,
        knows: &[],
        published: false,
        reason: "every crate may test with it, so it can know none of them",
    },
    Row {
        name: "xtask",
        knows: &[],
        published: false,
        reason: "checks must build when nothing else does",
    },
];

const TESTKIT: &str = "mcp-testkit";

/// The crate that counts its dependencies, and how many it may have.
const COUNTED: (&str, usize) = ("mcp-keys", 3);

/// A crate of the workspace as cargo sees it.
#[derive(Debug)]
pub(super) struct Member {
    name: String,
    /// Its `Cargo.toml`, relative to the root.
    manifest: String,
    published: bool,
    /// Direct dependencies of every kind, optional ones and those for one platform included.
    dependencies: Vec<(String, DependencyKind)>,
}

/// The members of the workspace at `root`.
///
/// # Errors
///
/// When cargo cannot describe it.
pub(super) fn members(root: &Path) -> Result<Vec<Member>, TaskError> {
    let metadata = MetadataCommand::new()
        .cargo_path(cargo_program())
        .manifest_path(root.join("Cargo.toml"))
        .no_deps()
        .exec()
        .map_err(|error| TaskError::Metadata(Box::new(error)))?;
    Ok(from_metadata(metadata))
}

fn from_metadata(metadata: Metadata) -> Vec<Member> {
    metadata
        .packages
        .into_iter()
        .map(|package| Member {
            name: package.name.to_string(),
            manifest: package
                .manifest_path
                .strip_prefix(&metadata.workspace_root)
                .unwrap_or(&package.manifest_path)
                .to_string(),
            published: package
                .publish
                .is_none_or(|registries| !registries.is_empty()),
            dependencies: package
                .dependencies
                .into_iter()
                .map(|dependency| (dependency.name, dependency.kind))
                .collect(),
        })
        .collect()
}

pub(super) fn check(members: &[Member]) -> Vec<Finding> {
    let mut findings: Vec<_> = members.iter().flat_map(check_member).collect();
    findings.extend(
        ROWS.iter()
            .filter(|row| !members.iter().any(|member| member.name == row.name))
            .map(|row| {
                let message = "has a row in xtask's table and is no crate: remove the row";
                Finding::new(row.name, RULE, message)
            }),
    );
    findings
}

fn check_member(member: &Member) -> Vec<Finding> {
    let complain = |message: String| Finding::new(&member.manifest, RULE, message);
    let Some(row) = ROWS.iter().find(|row| row.name == member.name) else {
        let message = "is not in xtask's table of crates: add a row that says whom it may know";
        return vec![complain(message.to_owned())];
    };
    let mut findings = Vec::new();
    for (name, kind) in &member.dependencies {
        if let Some(message) = forbidden_edge(row, name, *kind) {
            findings.push(complain(message));
        }
    }
    if member.published != row.published {
        let wanted = if row.published {
            "no `publish`"
        } else {
            "`publish = false`"
        };
        findings.push(complain(format!("has {wanted} in [package]")));
    }
    let direct = member
        .dependencies
        .iter()
        .filter(|(_, kind)| *kind == DependencyKind::Normal)
        .count();
    let (counted, limit) = COUNTED;
    if member.name == counted && direct > limit {
        findings.push(complain(format!(
            "has {direct} direct dependencies, and {limit} are the limit: everybody who names a \
             tool compiles them"
        )));
    }
    findings
}

/// Why an edge to a crate of ours is wrong; nothing for crates of others.
fn forbidden_edge(row: &Row, to: &str, kind: DependencyKind) -> Option<String> {
    let ours = ROWS.iter().any(|row| row.name == to);
    if !ours || row.knows.contains(&to) {
        return None;
    }
    match (to, kind) {
        (TESTKIT, DependencyKind::Development) if row.name != TESTKIT => None,
        (TESTKIT, _) => Some(format!(
            "`{TESTKIT}` is a dev-dependency only: move it there"
        )),
        _ => Some(format!(
            "must not depend on `{to}`, in tests neither: {}",
            row.reason
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use DependencyKind::{Build, Development, Normal};

    fn member(name: &str, dependencies: &[(&str, DependencyKind)]) -> Member {
        Member {
            name: name.to_owned(),
            manifest: format!("crates/{name}/Cargo.toml"),
            published: !matches!(name, TESTKIT | "xtask"),
            dependencies: dependencies
                .iter()
                .map(|(name, kind)| ((*name).to_owned(), *kind))
                .collect(),
        }
    }

    /// How many findings a crate with these dependencies gives.
    #[track_caller]
    fn check_edges(name: &str, dependencies: &[(&str, DependencyKind)], expected: usize) {
        let findings = check_member(&member(name, dependencies));
        assert_eq!(findings.len(), expected, "{name}: {findings:?}");
    }

    #[test]
    fn a_leaf_knows_nothing_of_ours_but_identity_in_the_catalog() {
        check_edges("mcp-catalog", &[("mcp-keys", Normal), ("tokio", Normal)], 0);
        for leaf in ["mcp-keys", "mcp-sandbox-meta", "mcp-telemetry"] {
            for other in ["mcp-catalog", "mcp-runtime", "mcp-cli"] {
                for kind in [Normal, Build, Development] {
                    check_edges(leaf, &[(other, kind)], 1);
                }
            }
        }
    }

    #[test]
    fn the_program_goes_through_the_facade() {
        check_edges("mcp-cli", &[("mcp-runtime", Normal), ("rmcp", Normal)], 0);
        check_edges("mcp-cli", &[("mcp-keys", Normal)], 1);
        check_edges("mcp-runtime", &[("mcp-cli", Development)], 1);
    }

    #[test]
    fn the_testkit_is_for_tests_and_knows_nobody() {
        check_edges("mcp-runtime", &[(TESTKIT, Development)], 0);
        check_edges("mcp-runtime", &[(TESTKIT, Normal)], 1);
        check_edges("mcp-runtime", &[(TESTKIT, Build)], 1);
        check_edges(TESTKIT, &[("mcp-keys", Normal)], 1);
    }

    #[test]
    fn xtask_builds_when_nothing_else_does() {
        check_edges("xtask", &[("toml", Normal)], 0);
        check_edges("xtask", &[("mcp-keys", Normal)], 1);
    }

    #[test]
    fn a_crate_without_a_row_and_a_row_without_a_crate_are_told() {
        check_edges("mcp-new", &[], 1);
        let all: Vec<_> = ROWS.iter().map(|row| member(row.name, &[])).collect();
        assert_eq!(check(&all), []);
        assert_eq!(check(&all[1..]).len(), 1);
    }

    #[test]
    fn what_is_for_us_only_is_not_published() {
        let mut testkit = member(TESTKIT, &[]);
        testkit.published = true;
        assert_eq!(check_member(&testkit).len(), 1);
        let mut keys = member("mcp-keys", &[]);
        keys.published = false;
        assert_eq!(check_member(&keys).len(), 1);
    }

    #[test]
    fn identity_counts_its_dependencies() {
        let three = [("serde", Normal), ("sha2", Normal), ("thiserror", Normal)];
        let dev = [("proptest", Development), ("criterion", Development)];
        check_edges("mcp-keys", &[&three[..], &dev[..]].concat(), 0);
        check_edges("mcp-keys", &[&three[..], &[("memchr", Normal)]].concat(), 1);
    }
}
