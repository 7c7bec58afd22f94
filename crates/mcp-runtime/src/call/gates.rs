//! What the host has put between its calls and its servers.

use super::access::Lookup;
use super::approval::Approvals;
use super::hook::Hook;

/// The handlers through which every call of a runtime goes, in this order.
#[derive(Debug)]
pub(crate) struct Gates {
    pub(crate) hooks: Vec<Hook>,
    pub(crate) approvals: Approvals,
    pub(crate) access: Option<Lookup>,
}
