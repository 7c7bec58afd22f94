//! What a crate must not pull in, however many steps away.

use std::collections::BTreeSet;

use super::Finding;
use crate::command::{cargo, stdout};
use crate::error::TaskError;

/// A promise about everything a crate compiles.
struct Promise {
    package: &'static str,
    /// The kinds of edges to follow, as `cargo tree --edges` names them.
    edges: &'static str,
    forbidden: fn(&str) -> bool,
    reason: &'static str,
}

const PROMISES: &[Promise] = &[
    Promise {
        package: "mcp-keys",
        edges: "normal,build,dev",
        forbidden: |name| is_rmcp(name) || name == "tokio",
        reason: "identity does no I/O and speaks no protocol, in its tests neither",
    },
    Promise {
        package: "mcp-catalog",
        edges: "normal,build",
        forbidden: is_rmcp,
        reason: "it is generic over what is listed",
    },
    Promise {
        package: "mcp-sandbox-meta",
        edges: "normal,build",
        forbidden: is_rmcp,
        reason: "the author of a server uses it with any implementation, unless the feature `rmcp` is asked for",
    },
    Promise {
        package: "mcp-telemetry",
        edges: "normal,build",
        forbidden: is_opentelemetry_sdk,
        reason: "a library uses OpenTelemetry's API; which SDK and exporter is the program's choice",
    },
];

fn is_rmcp(name: &str) -> bool {
    name == "rmcp" || name.starts_with("rmcp-")
}

/// Everything of OpenTelemetry that is not its API.
fn is_opentelemetry_sdk(name: &str) -> bool {
    let api = ["opentelemetry", "opentelemetry-semantic-conventions"];
    name.starts_with("opentelemetry") && !api.contains(&name)
}

/// Asks cargo what each crate pulls in when it is built alone, on every platform.
///
/// # Errors
///
/// When cargo cannot tell.
pub(super) fn check() -> Result<Vec<Finding>, TaskError> {
    let mut findings = Vec::new();
    for promise in PROMISES {
        let tree = stdout(&mut cargo([
            "tree",
            "--quiet",
            "--package",
            promise.package,
            "--edges",
            promise.edges,
            "--target",
            "all",
            "--prefix",
            "none",
            "--format",
            "{p}",
        ]))?;
        findings.extend(broken(promise, &tree));
    }
    Ok(findings)
}

/// The crates in the output of `cargo tree` that break the promise, each once.
fn broken(promise: &Promise, tree: &str) -> Vec<Finding> {
    let names: BTreeSet<_> = tree
        .lines()
        .filter_map(|line| line.split(' ').next())
        .collect();
    let Promise {
        package,
        edges,
        reason,
        ..
    } = promise;
    names
        .into_iter()
        .filter(|name| (promise.forbidden)(name))
        .map(|name| {
            let message = format!(
                "pulls in `{name}`: {reason}; `cargo tree -p {package} -e {edges} -i {name}` shows how"
            );
            Finding::new(&format!("crates/{package}/Cargo.toml"), "closure", message)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The crates among `names` that `package` must not pull in.
    #[track_caller]
    fn check_names(package: &str, names: &[&str], expected: &[&str]) {
        let promise = PROMISES.iter().find(|promise| promise.package == package);
        let promise = promise.expect("a promise of this crate");
        let lines: Vec<_> = names.iter().map(|name| format!("{name} v1.0.0")).collect();
        let findings = broken(promise, &lines.join("\n"));
        assert_eq!(findings.len(), expected.len(), "{package}: {findings:?}");
        for (finding, name) in findings.iter().zip(expected) {
            assert!(finding.message.contains(&format!("`{name}`")), "{finding}");
        }
    }

    #[test]
    fn identity_pulls_in_neither_executor_nor_protocol() {
        let names = ["mcp-keys", "serde", "tokio", "rmcp", "tokio"];
        check_names("mcp-keys", &names, &["rmcp", "tokio"]);
        check_names("mcp-keys", &["tokio-like", "serde"], &[]);
    }

    #[test]
    fn the_wire_contract_and_the_catalog_stand_without_rmcp() {
        for package in ["mcp-sandbox-meta", "mcp-catalog"] {
            check_names(package, &["tokio", "rmcp-macros"], &["rmcp-macros"]);
        }
    }

    #[test]
    fn telemetry_uses_the_api_and_no_sdk() {
        check_names(
            "mcp-telemetry",
            &["opentelemetry", "opentelemetry-otlp", "opentelemetry_sdk"],
            &["opentelemetry-otlp", "opentelemetry_sdk"],
        );
    }
}
