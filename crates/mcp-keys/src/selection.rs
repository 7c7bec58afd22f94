//! [`SelectedEnvironments`]: which environments a step may use, and which of them is the primary one.

use crate::EnvironmentId;

/// The environments a step may use, in the order they were selected: one at least, none twice.
///
/// The first is the *primary* one. Host-scoped servers live under its permissions and state.
///
/// ```
/// use mcp_keys::{EnvironmentId, SelectedEnvironments};
///
/// let devbox = EnvironmentId::new("devbox")?;
/// let ci = EnvironmentId::new("ci")?;
/// let selected = SelectedEnvironments::new([devbox.clone(), ci])?;
///
/// assert_eq!(selected.primary(), &devbox);
/// assert!(SelectedEnvironments::new([]).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SelectedEnvironments {
    primary: EnvironmentId,
    others: Vec<EnvironmentId>,
}

impl SelectedEnvironments {
    /// Selects `environments`, the primary one first.
    ///
    /// # Errors
    ///
    /// If there is none, or one is named twice.
    pub fn new(
        environments: impl IntoIterator<Item = EnvironmentId>,
    ) -> Result<Self, InvalidSelection> {
        let mut environments = environments.into_iter();
        let primary = environments.next().ok_or(InvalidSelection::Empty)?;
        let mut selected = Self::from(primary);
        for environment in environments {
            if selected.contains(&environment) {
                return Err(InvalidSelection::Repeated(environment));
            }
            selected.others.push(environment);
        }
        Ok(selected)
    }

    /// The first one selected.
    #[must_use]
    pub fn primary(&self) -> &EnvironmentId {
        &self.primary
    }

    /// The primary one, then the others in order.
    pub fn iter(&self) -> impl Iterator<Item = &EnvironmentId> {
        std::iter::once(&self.primary).chain(&self.others)
    }

    /// Whether `environment` is selected.
    #[must_use]
    pub fn contains(&self, environment: &EnvironmentId) -> bool {
        self.iter().any(|selected| selected == environment)
    }

    /// Whether the primary one is the only one, so that an environment's server needs no `environment_id`
    /// (K7).
    #[must_use]
    pub fn is_single(&self) -> bool {
        self.others.is_empty()
    }
}

impl From<EnvironmentId> for SelectedEnvironments {
    /// Selects one environment, which is the primary one.
    fn from(primary: EnvironmentId) -> Self {
        Self {
            primary,
            others: Vec::new(),
        }
    }
}

/// Environments that cannot be selected together.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidSelection {
    /// There is none, so nothing could be the primary one.
    #[error("no environment is selected: select one at least")]
    Empty,
    /// One is named twice.
    #[error("environment `{0}` is selected twice: name it once")]
    Repeated(EnvironmentId),
}
