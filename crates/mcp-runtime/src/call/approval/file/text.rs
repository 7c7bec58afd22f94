//! What stands in a file of approvals.

use std::collections::BTreeSet;

use mcp_keys::ToolKey;
use serde::{Deserialize, Serialize};

use super::ApprovalFileErrorKind;
use crate::call::approval::ApprovalRecord;

/// The version that is written, and the only one that is read.
const VERSION: u64 = 1;

/// Everything that was approved.
#[derive(Debug, Default)]
pub(super) struct Approved(BTreeSet<Entry>);

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Entry {
    tool: ToolKey,
    definition: String,
    launch: String,
}

impl Entry {
    fn of(approval: &ApprovalRecord) -> Self {
        Self {
            tool: approval.tool().clone(),
            definition: approval.definition().to_string(),
            launch: approval.launch().to_string(),
        }
    }
}

impl Approved {
    pub(super) fn read(text: &str) -> Result<Self, ApprovalFileErrorKind> {
        #[derive(Deserialize)]
        struct Head {
            version: u64,
        }
        #[derive(Deserialize)]
        struct Body {
            approvals: BTreeSet<Entry>,
        }
        let unreadable = |error| ApprovalFileErrorKind::Unreadable(Box::new(error));
        let Head { version } = serde_json::from_str(text).map_err(unreadable)?;
        if version != VERSION {
            return Err(ApprovalFileErrorKind::Version { version });
        }
        let Body { approvals } = serde_json::from_str(text).map_err(unreadable)?;
        Ok(Self(approvals))
    }

    pub(super) fn contains(&self, approval: &ApprovalRecord) -> bool {
        self.0.contains(&Entry::of(approval))
    }

    /// Adds an approval; `false` when it is there already.
    pub(super) fn insert(&mut self, approval: &ApprovalRecord) -> bool {
        self.0.insert(Entry::of(approval))
    }

    pub(super) fn text(&self) -> String {
        #[derive(Serialize)]
        struct Text<'a> {
            version: u64,
            approvals: &'a BTreeSet<Entry>,
        }
        let text = Text {
            version: VERSION,
            approvals: &self.0,
        };
        serde_json::to_string_pretty(&text).expect("keys and texts are JSON") + "\n"
    }
}
