//! The way to a server: a child process or an endpoint.

use std::fmt;
use std::path::PathBuf;

use http::{HeaderName, HeaderValue};
use url::Url;

use super::Secret;

/// The way to a server.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Transport {
    /// A child process.
    Stdio(StdioTransport),
    /// A streamable HTTP endpoint.
    Http(HttpTransport),
}

/// A child process that speaks on its standard streams.
#[derive(Clone)]
pub struct StdioTransport {
    pub(crate) command: String,
    pub(crate) args: Vec<String>,
    pub(crate) env: Vec<(String, Secret)>,
    pub(crate) env_vars: Vec<String>,
    pub(crate) env_in_argv: bool,
    pub(crate) cwd: Option<PathBuf>,
}

/// A streamable HTTP endpoint.
#[derive(Clone)]
pub struct HttpTransport {
    pub(crate) url: Url,
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    pub(crate) bearer_token_env_var: Option<String>,
}

impl StdioTransport {
    /// A command, looked up in `PATH` unless it contains a path.
    #[must_use]
    pub fn new(command: impl Into<String>) -> Self {
        Self {
            command: command.into(),
            args: Vec::new(),
            env: Vec::new(),
            env_vars: Vec::new(),
            env_in_argv: false,
            cwd: None,
        }
    }

    /// The arguments, without the command itself.
    #[must_use]
    pub fn args(mut self, args: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.args = args.into_iter().map(Into::into).collect();
        self
    }

    /// Sets a variable for the child.
    #[must_use]
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.env.push((name.into(), Secret::new(value)));
        self
    }

    /// Passes a variable of this process through, if it is set. A child inherits only a short list otherwise (R6).
    #[must_use]
    pub fn env_var(mut self, name: impl Into<String>) -> Self {
        self.env_vars.push(name.into());
        self
    }

    /// `true`: behind a command executor, variables are passed on as arguments, where process lists show their values. Unless
    /// a server says so, one with variables does not start there (R4). On this machine it changes nothing.
    #[must_use]
    pub fn env_in_argv(mut self, accepted: bool) -> Self {
        self.env_in_argv = accepted;
        self
    }

    /// The working directory, on the side of the executor; otherwise that of the environment, otherwise this process's.
    #[must_use]
    pub fn cwd(mut self, cwd: impl Into<PathBuf>) -> Self {
        self.cwd = Some(cwd.into());
        self
    }
}

impl HttpTransport {
    /// An `http` or `https` endpoint.
    #[must_use]
    pub fn new(url: Url) -> Self {
        Self {
            url,
            headers: Vec::new(),
            bearer_token_env_var: None,
        }
    }

    /// Sends a header with every request. Its value is treated as a secret.
    #[must_use]
    pub fn header(mut self, name: HeaderName, mut value: HeaderValue) -> Self {
        value.set_sensitive(true);
        self.headers.push((name, value));
        self
    }

    /// Sends the value of a variable of this process as the bearer token. The server fails to start when it is not set.
    #[must_use]
    pub fn bearer_token_env_var(mut self, name: impl Into<String>) -> Self {
        self.bearer_token_env_var = Some(name.into());
        self
    }
}

// Arguments, values, and what stands in a URL beside its origin may be secrets.

impl fmt::Debug for StdioTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.env.iter().map(|(name, _)| name).collect();
        f.debug_struct("StdioTransport")
            .field("command", &self.command)
            .field("args", &self.args.len())
            .field("env", &names)
            .field("env_vars", &self.env_vars)
            .field("env_in_argv", &self.env_in_argv)
            .field("cwd", &self.cwd)
            .finish()
    }
}

impl fmt::Debug for HttpTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.headers.iter().map(|(name, _)| name).collect();
        f.debug_struct("HttpTransport")
            .field("origin", &self.url.origin().ascii_serialization())
            .field("headers", &names)
            .field("bearer_token_env_var", &self.bearer_token_env_var)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::ServerConfig;

    #[test]
    fn debug_shows_no_secret() {
        let server = ServerConfig::stdio(
            "docs".parse().unwrap(),
            StdioTransport::new("x")
                .args(["--key=hunter2"])
                .env("TOKEN", "hunter2"),
        );
        let remote = HttpTransport::new(
            "http://me:hunter2@127.0.0.1/hunter2?key=hunter2"
                .parse()
                .unwrap(),
        )
        .header(
            http::header::AUTHORIZATION,
            HeaderValue::from_static("Bearer hunter2"),
        );
        let shown = format!("{server:?} {remote:?}");
        assert!(
            shown.contains("TOKEN") && shown.contains("authorization"),
            "{shown}"
        );
        assert!(!shown.contains("hunter2"), "{shown}");
    }
}
