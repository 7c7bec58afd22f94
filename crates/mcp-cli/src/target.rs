//! Which tool of which server a command line means.

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

    /// The servers that have to run for this tool. Since a model-visible name depends on nothing but its own server and
    /// tool (K4), that can be told without starting any.
    ///
    /// # Errors
    ///
    /// When there is none.
    pub(crate) fn servers<'a>(
        &self,
        servers: &'a [ServerName],
    ) -> Result<Vec<&'a ServerName>, TargetError> {
        match self {
            Self::ModelName(name) => {
                let namespace = |server: &ServerName| {
                    NameProfile::default().namespace(&McpServerKey::host(server.clone()))
                };
                let has_it = |server: &&ServerName| {
                    name.strip_prefix(&namespace(server))
                        .is_some_and(|rest| rest.starts_with("__"))
                };
                let meant: Vec<_> = servers.iter().filter(has_it).collect();
                if meant.is_empty() && servers.iter().any(|server| server.as_str() == name) {
                    return Err(TargetError::OnlyServer { name: name.clone() });
                }
                if meant.is_empty() {
                    return Err(TargetError::UnknownModelName {
                        name: name.clone(),
                        namespaces: list(servers.iter().map(|server| namespace(server) + "__")),
                    });
                }
                Ok(meant)
            }
            Self::Tool { server: name, .. } => {
                let meant: Vec<_> = servers
                    .iter()
                    .filter(|server| server.as_str() == name)
                    .collect();
                if meant.is_empty() {
                    return Err(TargetError::UnknownServer {
                        name: name.clone(),
                        servers: list(servers.iter()),
                    });
                }
                Ok(meant)
            }
        }
    }
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

    /// K4
    #[test]
    fn a_model_visible_name_tells_which_server_has_to_run() {
        let servers = names(&["docs", "docs_more", "My Docs"]);
        let check = |name: &str, expected: &[&str]| {
            let target = Target::of_name(name, &servers).unwrap();
            let meant = target.servers(&servers).unwrap_or_default();
            let meant: Vec<&str> = meant.iter().map(|server| server.as_str()).collect();
            assert_eq!(meant, expected, "{name}");
        };
        let odd = NameProfile::default().namespace(&McpServerKey::host(servers[2].clone()));
        check("mcp__docs__search", &["docs"]);
        check("mcp__docs_more__search", &["docs_more"]);
        check(&format!("{odd}__search"), &["My Docs"]);
        check("mcp__docs", &[]);
        check("search", &[]);
        let server = Target::of_name("docs", &servers).unwrap();
        let error = server.servers(&servers).unwrap_err();
        assert!(matches!(error, TargetError::OnlyServer { .. }), "{error}");
    }

    #[test]
    fn names_are_listed_as_people_do() {
        assert_eq!(list(["a"].iter()), "`a`");
        assert_eq!(list(["a", "b"].iter()), "`a` and `b`");
        assert_eq!(list(["a", "b", "c"].iter()), "`a`, `b` and `c`");
    }
}
