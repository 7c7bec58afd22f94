//! Which tools of a server are offered.

use std::collections::BTreeSet;

/// Which of a server's tools are offered (R8). Applies after sharing: filters differ, listings do not.
#[derive(Debug, Clone, Default)]
pub struct ToolFilter {
    enabled: Option<BTreeSet<String>>,
    disabled: BTreeSet<String>,
}

impl ToolFilter {
    /// Every tool.
    #[must_use]
    pub fn all() -> Self {
        Self::default()
    }

    /// Only these.
    #[must_use]
    pub fn only(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.enabled = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// Not these, even when they are among the only ones.
    #[must_use]
    pub fn except(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.disabled = names.into_iter().map(Into::into).collect();
        self
    }

    pub(crate) fn admits(&self, name: &str) -> bool {
        self.enabled
            .as_ref()
            .is_none_or(|enabled| enabled.contains(name))
            && !self.disabled.contains(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R8
    #[test]
    fn a_disabled_tool_is_not_offered_even_when_enabled() {
        let filter = ToolFilter::all().only(["a", "b"]).except(["b"]);
        assert!(filter.admits("a"));
        assert!(!filter.admits("b"));
        assert!(!filter.admits("c"));
        assert!(ToolFilter::all().admits("anything"));
    }
}
