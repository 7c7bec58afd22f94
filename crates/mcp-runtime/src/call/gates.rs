//! What the host has put between its calls and its servers.

use mcp_telemetry::Telemetry;

use super::access::Lookup;
use super::approval::Approvals;
use super::hook::Hook;

/// The handlers through which every call of a runtime goes, in this order; and where those are recorded that lead to no
/// server.
#[derive(Debug)]
pub(crate) struct Gates {
    pub(crate) hooks: Vec<Hook>,
    pub(crate) approvals: Approvals,
    pub(crate) access: Option<Lookup>,
    pub(crate) telemetry: Telemetry,
}
