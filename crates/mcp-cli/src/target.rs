//! Which tool of which server a command line means.

use std::collections::BTreeSet;

use mcp_runtime::{McpServerKey, NameProfile, ServerName};

/// A tool as the command line names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    /// The name a model sees: `mcp__docs__search`.
    ModelName(String),
    /// The server's own name for it.
    Tool {
        server: String,
        environment: Option<String>,
        tool: String,
    },
}

/// Why a name leads to no tool.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TargetError {
    #[error(
        "no configured server has a tool `{name}`: model-visible names here begin with {namespaces}; `mcp-runtime tools` lists them"
    )]
    UnknownModelName { name: String, namespaces: String },
    #[error("`{name}` names no configured server; there is {servers}")]
    UnknownServer { name: String, servers: String },
    #[error("`{name}` could mean a tool of {servers}; say which with --server and --tool")]
    Ambiguous { name: String, servers: String },
    #[error(
        "`{name}` is a server, not a tool: name one of its tools as `{name}/TOOL`; `mcp-runtime tools` lists them"
    )]
    OnlyServer { name: String },
    #[error(
        "`{name}` says itself which environment it means: leave --environment out, or write SERVER/TOOL"
    )]
    EnvironmentTwice { name: String },
    #[error("{0}")]
    Rejected(String),
}

impl Target {
    /// Finds out what `name` means among the servers that are configured: with a slash it is `server/tool`, without one a
    /// model-visible name, which never has one.
    ///
    /// Names of servers and tools may have slashes of their own; it has to be plain which one divides them.
    ///
    /// # Errors
    ///
    /// When it means no server, or several.
    pub(crate) fn of_name(name: &str, servers: &[ServerName]) -> Result<Self, TargetError> {
        if !name.contains('/') {
            return Ok(Self::ModelName(name.to_owned()));
        }
        let divided = |server: &&ServerName| {
            name.strip_prefix(server.as_str())
                .and_then(|rest| rest.strip_prefix('/'))
                .is_some_and(|tool| !tool.is_empty())
        };
        let meant: Vec<&ServerName> = servers.iter().filter(divided).collect();
        match meant.as_slice() {
            [server] => Ok(Self::Tool {
                server: server.to_string(),
                environment: None,
                tool: name[server.as_str().len() + 1..].to_owned(),
            }),
            [] => Err(TargetError::UnknownServer {
                name: name.to_owned(),
                servers: list(servers.iter()),
            }),
            several => Err(TargetError::Ambiguous {
                name: name.to_owned(),
                servers: list(several.iter().copied()),
            }),
        }
    }

    /// What `name` means when nobody knows the servers: the first slash divides.
    ///
    /// # Errors
    ///
    /// When a slash is missing, or stands at an end.
    pub(crate) fn divided(name: &str) -> Result<Self, TargetError> {
        match name.split_once('/') {
            Some((server, tool)) if !server.is_empty() && !tool.is_empty() => Ok(Self::Tool {
                server: server.to_owned(),
                environment: None,
                tool: tool.to_owned(),
            }),
            _ => Err(TargetError::UnknownServer {
                name: name.to_owned(),
                servers: list(std::iter::empty::<&str>()),
            }),
        }
    }

    /// The same tool in an environment.
    ///
    /// # Errors
    ///
    /// When the name says itself whose tool it is.
    pub(crate) fn in_environment(self, environment: Option<&str>) -> Result<Self, TargetError> {
        match (self, environment) {
            (target, None) => Ok(target),
            (Self::Tool { server, tool, .. }, Some(id)) => Ok(Self::Tool {
                server,
                environment: Some(id.to_owned()),
                tool,
            }),
            (Self::ModelName(name), Some(_)) => Err(TargetError::EnvironmentTwice { name }),
        }
    }

    /// The servers that may have to run for this tool. Since a model-visible name depends on nothing but its own server and
    /// tool (K4), that can be told without starting any; with `multi_environment_mcp` off, a server of an environment may have
    /// the names of one of the host's (K8).
    ///
    /// # Errors
    ///
    /// When there is none.
    pub(crate) fn servers(&self, keys: &[McpServerKey]) -> Result<Vec<McpServerKey>, TargetError> {
        match self {
            Self::ModelName(name) => {
                let namespace = |key: &McpServerKey| NameProfile::default().namespace(key);
                let begins = |key: &McpServerKey| {
                    name.strip_prefix(&namespace(key))
                        .is_some_and(|rest| rest.starts_with("__"))
                };
                let as_host = |key: &McpServerKey| McpServerKey::host(key.name().clone());
                let has_it = |key: &&McpServerKey| begins(key) || begins(&as_host(key));
                let meant: Vec<_> = keys.iter().filter(has_it).cloned().collect();
                if meant.is_empty() && keys.iter().any(|key| key.name().as_str() == name) {
                    return Err(TargetError::OnlyServer { name: name.clone() });
                }
                if meant.is_empty() {
                    return Err(TargetError::UnknownModelName {
                        name: name.clone(),
                        namespaces: list(keys.iter().map(|key| namespace(key) + "__")),
                    });
                }
                Ok(meant)
            }
            Self::Tool { server, .. } => named(server, keys),
        }
    }
}

/// The servers of a name, whoever owns them.
///
/// # Errors
///
/// When there is none.
pub(crate) fn named(name: &str, keys: &[McpServerKey]) -> Result<Vec<McpServerKey>, TargetError> {
    let meant = keys.iter().filter(|key| key.name().as_str() == name);
    let meant: Vec<_> = meant.cloned().collect();
    if meant.is_empty() {
        return Err(TargetError::UnknownServer {
            name: name.to_owned(),
            servers: list(distinct(keys).iter()),
        });
    }
    Ok(meant)
}

/// The names of servers, each once.
pub(crate) fn distinct(keys: &[McpServerKey]) -> Vec<ServerName> {
    let names: BTreeSet<_> = keys.iter().map(McpServerKey::name).collect();
    names.into_iter().cloned().collect()
}

fn list(names: impl Iterator<Item = impl std::fmt::Display>) -> String {
    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    match names.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => "none".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(servers: &[&str]) -> Vec<ServerName> {
        servers.iter().map(|name| name.parse().unwrap()).collect()
    }

    /// `Some((server, tool))`, or `None` for a refusal.
    #[track_caller]
    fn check(name: &str, servers: &[&str], expected: Option<(&str, &str)>) {
        let expected = expected.map(|(server, tool)| Target::Tool {
            server: server.to_owned(),
            environment: None,
            tool: tool.to_owned(),
        });
        assert_eq!(
            Target::of_name(name, &names(servers)).ok(),
            expected,
            "{name}"
        );
    }

    #[test]
    fn a_slash_divides_server_and_tool_where_that_is_plain() {
        check("docs/search", &["docs", "web"], Some(("docs", "search")));
        check("docs/a/b", &["docs"], Some(("docs", "a/b"))); // a slash in the tool
        check("team/docs/a", &["team/docs"], Some(("team/docs", "a"))); // in the server
        check("team/docs/a", &["team", "team/docs"], None); // two ways to read it
        check("docs/search", &["doc", "docs2"], None); // a prefix is not a name
        check("docs/", &["docs"], None); // no tool
        check("/search", &["docs"], None); // no server
    }

    /// K4, K8
    #[test]
    fn a_model_visible_name_tells_which_server_has_to_run() {
        let host = |name: &str| McpServerKey::host(name.parse().unwrap());
        let devbox = |name: &str| {
            McpServerKey::in_environment("devbox".parse().unwrap(), name.parse().unwrap())
        };
        let keys = [
            host("docs"),
            host("docs_more"),
            host("My Docs"),
            devbox("docs"),
            devbox("web"),
        ];
        let check = |name: &str, expected: &[usize]| {
            let target = Target::of_name(name, &distinct(&keys)).unwrap();
            let meant = target.servers(&keys).unwrap_or_default();
            let expected: Vec<_> = expected.iter().map(|&at| keys[at].clone()).collect();
            assert_eq!(meant, expected, "{name}");
        };
        let of = |at: usize| NameProfile::default().namespace(&keys[at]);
        check("mcp__docs__search", &[0, 3]);
        check("mcp__docs_more__search", &[1]);
        check(&format!("{}__search", of(2)), &[2]);
        check(&format!("{}__search", of(3)), &[3]);
        check("mcp__web__search", &[4]);
        check("docs/search", &[0, 3]);
        check("mcp__docs", &[]);
        check("search", &[]);
        let server = Target::of_name("docs", &distinct(&keys)).unwrap();
        let error = server.servers(&keys).unwrap_err();
        assert!(matches!(error, TargetError::OnlyServer { .. }), "{error}");
    }

    #[test]
    fn an_environment_goes_with_a_server_and_not_with_a_name_that_has_one() {
        let servers = names(&["docs"]);
        let of = |name: &str| {
            Target::of_name(name, &servers)
                .unwrap()
                .in_environment(Some("devbox"))
        };
        let expected = Target::Tool {
            server: "docs".to_owned(),
            environment: Some("devbox".to_owned()),
            tool: "search".to_owned(),
        };
        assert_eq!(of("docs/search").unwrap(), expected);
        assert!(of("mcp__docs__search").is_err());
    }

    #[test]
    fn names_are_listed_as_people_do() {
        assert_eq!(list(["a"].iter()), "`a`");
        assert_eq!(list(["a", "b"].iter()), "`a` and `b`");
        assert_eq!(list(["a", "b", "c"].iter()), "`a`, `b` and `c`");
    }
}
