//! Which members of a request's `_meta` belong to the host alone.

/// The state of the sandbox under which a call was issued (S2).
pub const SANDBOX_STATE_KEY: &str = "codex/sandbox-state";
/// The deprecated alias of [`SANDBOX_STATE_KEY`]: sent as an identical copy, and accepted alone (S1, S2, S7).
pub const SANDBOX_STATE_META_KEY: &str = "codex/sandbox-state-meta";
/// The program that can apply the state (S2).
pub const SANDBOX_LAUNCHER_KEY: &str = "codex/sandbox-launcher";

/// Whether a top-level member of a request's `_meta` is the host's to write, so that nobody else's may pass (S6).
///
/// Reserved are `codex/sandbox-*` and `io.modelcontextprotocol/*`, `progressToken`, and the trace context
/// `traceparent`, `tracestate` and `baggage`. Case-sensitive, and `key` is the decoded name: a name that comes
/// spelled with JSON escapes has to be decoded first.
///
/// ```
/// use mcp_sandbox_meta::is_reserved_meta_key;
///
/// assert!(is_reserved_meta_key("codex/sandbox-state"));
/// assert!(is_reserved_meta_key("traceparent"));
/// assert!(!is_reserved_meta_key("codex/telemetry"));
/// ```
#[must_use]
pub fn is_reserved_meta_key(key: &str) -> bool {
    is_reserved(key.as_bytes())
}

/// As [`is_reserved_meta_key`], of a name that may hold half a surrogate pair.
pub(crate) fn is_reserved(key: &[u8]) -> bool {
    key.starts_with(b"codex/sandbox-")
        || key.starts_with(b"io.modelcontextprotocol/")
        || matches!(
            key,
            b"progressToken" | b"traceparent" | b"tracestate" | b"baggage"
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(key: &str, reserved: bool, why: &str) {
        assert_eq!(is_reserved_meta_key(key), reserved, "{key:?}: {why}");
    }

    /// S6
    #[test]
    fn the_hosts_own_members_are_reserved_and_no_others() {
        for key in [
            SANDBOX_STATE_KEY,
            SANDBOX_STATE_META_KEY,
            SANDBOX_LAUNCHER_KEY,
        ] {
            check(key, true, "written by the host");
        }
        check("codex/sandbox-", true, "the whole prefix is reserved");
        check(
            "codex/sandbox-anything",
            true,
            "members to come are reserved already",
        );
        check("codex/sandbox", false, "not under the prefix");
        check("codex/telemetry", false, "not about the sandbox");
        check("xcodex/sandbox-state", false, "a prefix, not a part");
        check(
            "Codex/sandbox-state",
            false,
            "case-sensitive, as the server's side reads it",
        );
        check(
            "io.modelcontextprotocol/protocolVersion",
            true,
            "overrides the era otherwise",
        );
        check(
            "io.modelcontextprotocol/",
            true,
            "the whole prefix is reserved",
        );
        check("io.modelcontextprotocol", false, "not under the prefix");
        check(
            "com.example/io.modelcontextprotocol/x",
            false,
            "a prefix, not a part",
        );
        check("progressToken", true, "correlates the host's own progress");
        check("progresstoken", false, "case-sensitive");
        for key in ["traceparent", "tracestate", "baggage"] {
            check(key, true, "trace context is the host's");
        }
        check("traceparent2", false, "the whole name counts");
        check("", false, "an empty name is nobody's");
    }
}
