//! One server's configuration.

use std::time::Duration;

use mcp_keys::{ServerName, ToolName};

use super::ToolFilter;
use super::transport::{HttpTransport, StdioTransport, Transport};
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
