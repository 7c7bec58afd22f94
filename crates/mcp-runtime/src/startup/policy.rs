//! [`ReconnectPolicy`]: whether a connection that ended is made again, and after which pauses (R10).

use std::time::Duration;

/// Whether a server whose connection ended is connected again, and how long to wait before each attempt (R10).
///
/// The first pause is short; each one after it is twice as long, up to the longest. A pause is cut by up to a half, at
/// random, so that servers that went together do not come back together. It is short again after a connection that
/// lasted longer than the longest pause: a server that comes up and goes at once is waited for longer and longer.
///
/// ```
/// use std::time::Duration;
/// use mcp_runtime::{ApprovalPolicy, McpRuntime, ReconnectPolicy};
///
/// let patient = ReconnectPolicy::new().first_pause(Duration::from_secs(5)).longest_pause(Duration::from_secs(600));
/// let builder = McpRuntime::builder(ApprovalPolicy::approve_all()).reconnect(patient);
/// # let _ = builder;
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReconnectPolicy {
    is_on: bool,
    first: Duration,
    longest: Duration,
}

/// Pauses are at least this long: doubling nothing gives nothing.
const SHORTEST: Duration = Duration::from_millis(1);

impl ReconnectPolicy {
    /// The first pause, unless the host says otherwise.
    pub const DEFAULT_FIRST_PAUSE: Duration = Duration::from_millis(500);
    /// The longest pause, unless the host says otherwise.
    pub const DEFAULT_LONGEST_PAUSE: Duration = Duration::from_secs(60);

    /// Reconnects, with the default pauses.
    #[must_use]
    pub fn new() -> Self {
        Self {
            is_on: true,
            first: Self::DEFAULT_FIRST_PAUSE,
            longest: Self::DEFAULT_LONGEST_PAUSE,
        }
    }

    /// A server that is gone stays gone.
    #[must_use]
    pub fn never() -> Self {
        Self {
            is_on: false,
            ..Self::new()
        }
    }

    /// The pause before the first attempt; at least a millisecond, and never more than the longest.
    #[must_use]
    pub fn first_pause(mut self, pause: Duration) -> Self {
        self.first = pause;
        self
    }

    /// The longest pause, at least a millisecond; also how long a connection has to last for the pauses to be short again.
    #[must_use]
    pub fn longest_pause(mut self, pause: Duration) -> Self {
        self.longest = pause;
        self
    }

    pub(super) fn is_on(&self) -> bool {
        self.is_on
    }

    pub(super) fn first(&self) -> Duration {
        self.first.clamp(SHORTEST, self.longest())
    }

    pub(super) fn longest(&self) -> Duration {
        self.longest.max(SHORTEST)
    }
}

impl Default for ReconnectPolicy {
    fn default() -> Self {
        Self::new()
    }
}
