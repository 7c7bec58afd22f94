//! One server's configuration.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use http::{HeaderName, HeaderValue};
use mcp_keys::{ServerName, ToolName};
use url::Url;

use super::{Secret, ToolFilter};
use crate::call::{ApprovalMode, ApprovalModes, CallBudget};

/// How to reach one server, and how long to wait for it.
///
/// ```
/// use std::time::Duration;
/// use mcp_runtime::{ServerConfig, StdioTransport};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let docs = ServerConfig::stdio("docs".parse()?, StdioTransport::new("docs-server").args(["--stdio"]))
///     .startup_timeout(Duration::from_secs(5));
/// # assert_eq!(docs.name().as_str(), "docs");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct ServerConfig {
    name: ServerName,
    transport: Transport,
    startup_timeout: Duration,
    tool_timeout: Duration,
    interaction_timeout: Duration,
    reset_on_progress: bool,
    max_total_timeout: Duration,
    enabled: bool,
    required: bool,
    share_listing: bool,
    era: Era,
    filter: ToolFilter,
    approval: ApprovalModes,
}

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

/// Which generation of the protocol to speak (R5).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Era {
    /// Whatever the server speaks: a process is asked for the legacy era first, an endpoint for the modern one.
    #[default]
    Auto,
    /// `initialize`, up to 2025-11-25.
    Legacy,
    /// `server/discover`, from 2026-07-28 on.
    Modern,
}

impl ServerConfig {
    /// How long startup may take unless configured otherwise (R2).
    pub const DEFAULT_STARTUP_TIMEOUT: Duration = Duration::from_secs(30);
    /// How long a call may take unless configured otherwise (B3).
    pub const DEFAULT_TOOL_TIMEOUT: Duration = Duration::from_secs(60);

    /// How long a person may take to answer an elicitation unless configured otherwise (E1).
    pub const DEFAULT_INTERACTION_TIMEOUT: Duration = Duration::from_secs(600);
    /// How long a call whose timeout begins anew with progress may take in all unless configured otherwise (B4).
    pub const DEFAULT_MAX_TOTAL_TIMEOUT: Duration = Duration::from_secs(3_600);

    /// A server that is a child process.
    #[must_use]
    pub fn stdio(name: ServerName, transport: StdioTransport) -> Self {
        Self::new(name, Transport::Stdio(transport))
    }

    /// A server at a URL.
    #[must_use]
    pub fn http(name: ServerName, transport: HttpTransport) -> Self {
        Self::new(name, Transport::Http(transport))
    }

    /// A server behind any transport.
    #[must_use]
    pub fn new(name: ServerName, transport: Transport) -> Self {
        Self {
            name,
            transport,
            startup_timeout: Self::DEFAULT_STARTUP_TIMEOUT,
            tool_timeout: Self::DEFAULT_TOOL_TIMEOUT,
            interaction_timeout: Self::DEFAULT_INTERACTION_TIMEOUT,
            reset_on_progress: false,
            max_total_timeout: Self::DEFAULT_MAX_TOTAL_TIMEOUT,
            enabled: true,
            required: false,
            share_listing: true,
            era: Era::default(),
            filter: ToolFilter::default(),
            approval: ApprovalModes::default(),
        }
    }

    /// One deadline for spawning, handshake, the whole listing, and waiting for a shared one (R2).
    #[must_use]
    pub fn startup_timeout(mut self, timeout: Duration) -> Self {
        self.startup_timeout = timeout;
        self
    }

    /// The budget of a call (B3). A caller can only make it smaller.
    #[must_use]
    pub fn tool_timeout(mut self, timeout: Duration) -> Self {
        self.tool_timeout = timeout;
        self
    }

    /// How long a person may take to answer one elicitation of this server; then the server is told that it was
    /// cancelled (E1). The clocks of calls stand still for that long at most (B3).
    #[must_use]
    pub fn interaction_timeout(mut self, timeout: Duration) -> Self {
        self.interaction_timeout = timeout;
        self
    }

    /// `true`: whenever a call reports progress, its budget begins anew, within
    /// [`max_total_timeout`](Self::max_total_timeout). `false` unless said otherwise (B4).
    #[must_use]
    pub fn reset_on_progress(mut self, reset: bool) -> Self {
        self.reset_on_progress = reset;
        self
    }

    /// How long a call may take in all when progress begins its budget anew (B4). Time that a person takes does not
    /// count.
    #[must_use]
    pub fn max_total_timeout(mut self, timeout: Duration) -> Self {
        self.max_total_timeout = timeout;
        self
    }

    /// A disabled server does not start (R1).
    #[must_use]
    pub fn enabled(mut self, enabled: bool) -> Self {
        self.enabled = enabled;
        self
    }

    /// A required server's failure is reported with those of the others (R1).
    #[must_use]
    pub fn required(mut self, required: bool) -> Self {
        self.required = required;
        self
    }

    /// `false`: neither fetches for others nor waits for them (C6).
    #[must_use]
    pub fn share_listing(mut self, share: bool) -> Self {
        self.share_listing = share;
        self
    }

    /// Which generation of the protocol to speak (R5).
    #[must_use]
    pub fn era(mut self, era: Era) -> Self {
        self.era = era;
        self
    }

    /// Which tools to offer (R8).
    #[must_use]
    pub fn tool_filter(mut self, filter: ToolFilter) -> Self {
        self.filter = filter;
        self
    }

    /// How calls of this server come to be approved, unless one of its tools says otherwise (A1). Without it, the
    /// runtime's [policy](crate::ApprovalPolicy) decides alone.
    #[must_use]
    pub fn approval(mut self, mode: ApprovalMode) -> Self {
        self.approval.server = Some(mode);
        self
    }

    /// How calls of one tool come to be approved, by the server's own name for it (A1).
    #[must_use]
    pub fn tool_approval(mut self, tool: impl Into<String>, mode: ApprovalMode) -> Self {
        self.approval.tools.insert(tool.into(), mode);
        self
    }

    /// The same server under another name.
    pub(crate) fn called(mut self, name: ServerName) -> Self {
        self.name = name;
        self
    }

    pub(crate) fn with_transport(mut self, change: impl FnOnce(Transport) -> Transport) -> Self {
        self.transport = change(self.transport);
        self
    }

    /// The configured name.
    #[must_use]
    pub fn name(&self) -> &ServerName {
        &self.name
    }

    /// The way to the server.
    #[must_use]
    pub fn transport(&self) -> &Transport {
        &self.transport
    }

    pub(crate) fn configured_era(&self) -> Era {
        self.era
    }

    pub(crate) fn is_enabled(&self) -> bool {
        self.enabled
    }

    pub(crate) fn is_required(&self) -> bool {
        self.required
    }

    pub(crate) fn shares_listing(&self) -> bool {
        self.share_listing
    }

    pub(crate) fn startup_budget(&self) -> Duration {
        self.startup_timeout
    }

    pub(crate) fn tool_budget(&self) -> Duration {
        self.tool_timeout
    }

    pub(crate) fn call_budget(&self) -> CallBudget {
        CallBudget {
            timeout: self.tool_timeout,
            total: self.reset_on_progress.then_some(self.max_total_timeout),
        }
    }

    pub(crate) fn interaction_patience(&self) -> Duration {
        self.interaction_timeout
    }

    pub(crate) fn approval_mode(&self, tool: &ToolName) -> Option<ApprovalMode> {
        self.approval.of(tool.as_str())
    }

    pub(crate) fn filter(&self) -> &ToolFilter {
        &self.filter
    }
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
