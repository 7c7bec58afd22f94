//! Under which authority calls are made, per environment (S8).

use std::collections::BTreeMap;
use std::sync::Arc;

use arc_swap::{ArcSwap, ArcSwapOption};
use mcp_keys::EnvironmentId;
use mcp_sandbox_meta::{SandboxMetadata, SandboxState};

use crate::launcher::Launcher;
use crate::permissions::{ElicitationPolicy, Permissions};

/// What an environment allows its servers: what they are told, not what this crate enforces.
#[derive(Debug, Clone, Default)]
pub(crate) struct Authority {
    /// The sandbox state, passed on whole (S3).
    pub(crate) sandbox_state: Option<SandboxState>,
    /// What can apply the state (S4).
    pub(crate) launcher: Option<Arc<Launcher>>,
    /// Whether its servers may ask a person anything (E1).
    pub(crate) elicitation: ElicitationPolicy,
}

impl Authority {
    /// What a host is shown of it.
    pub(crate) fn permissions(&self) -> Permissions {
        Permissions::new(self.elicitation, self.sandbox_state.clone())
    }

    /// What a server that wants to know is told (S2). Without a state there is nothing to tell; the launcher is only for
    /// whom it is of any use (S4).
    pub(crate) async fn metadata(&self, reaches_launcher: bool) -> Option<SandboxMetadata> {
        let metadata = SandboxMetadata::new(self.sandbox_state.clone()?);
        let launcher = match &self.launcher {
            Some(launcher) if reaches_launcher => launcher.probed().await,
            _ => None,
        };
        Some(match launcher {
            Some(launcher) => metadata.with_launcher(launcher),
            None => metadata,
        })
    }
}

/// The authority of every environment at one moment.
pub(crate) type CapturedAuthorities = Arc<BTreeMap<EnvironmentId, Authority>>;

/// The authority of every environment, as it is now. A capture sees all of them at one moment, however they change.
#[derive(Debug, Default)]
pub(crate) struct Authorities(ArcSwap<BTreeMap<EnvironmentId, Authority>>);

/// Under which permissions a server lives when nobody has captured any (E1).
#[derive(Debug, Clone, Default)]
pub(crate) struct CurrentPermissions {
    /// The environment that owns the server; a server of the host lives under the primary one.
    owner: Option<EnvironmentId>,
    authorities: Arc<Authorities>,
    primary: Primary,
}

/// The primary environment, whichever it is at the moment.
#[derive(Debug, Clone, Default)]
pub(crate) struct Primary(Arc<ArcSwapOption<EnvironmentId>>);

impl Primary {
    pub(crate) fn set(&self, environment: EnvironmentId) {
        self.0.store(Some(Arc::new(environment)));
    }
}

impl CurrentPermissions {
    pub(crate) fn new(
        owner: Option<&EnvironmentId>,
        authorities: &Arc<Authorities>,
        primary: &Primary,
    ) -> Self {
        Self {
            owner: owner.cloned(),
            authorities: authorities.clone(),
            primary: primary.clone(),
        }
    }

    /// As they are now.
    pub(crate) fn now(&self) -> Permissions {
        let authorities = self.authorities.0.load();
        let primary = self.primary.0.load();
        let environment = self.owner.as_ref().or(primary.as_deref());
        let authority = environment.and_then(|environment| authorities.get(environment));
        authority.map(Authority::permissions).unwrap_or_default()
    }
}

/// There is no environment with this id.
#[derive(Debug, thiserror::Error)]
#[error("there is no environment `{0}`")]
pub struct UnknownEnvironment(EnvironmentId);

impl Authorities {
    pub(crate) fn new(environments: impl IntoIterator<Item = (EnvironmentId, Authority)>) -> Self {
        Self(ArcSwap::from_pointee(environments.into_iter().collect()))
    }

    pub(crate) fn capture(&self) -> CapturedAuthorities {
        self.0.load_full()
    }

    /// Whether nothing has changed since.
    pub(crate) fn is_current(&self, captured: &CapturedAuthorities) -> bool {
        Arc::ptr_eq(&self.0.load(), captured)
    }

    /// Changes one. Later captures see it, earlier ones do not.
    pub(crate) fn change(
        &self,
        environment: &EnvironmentId,
        change: impl Fn(&mut Authority),
    ) -> Result<(), UnknownEnvironment> {
        let mut known = false;
        self.0.rcu(|authorities| {
            let mut authorities = BTreeMap::clone(authorities);
            let authority = authorities.get_mut(environment);
            known = authority.map(&change).is_some();
            authorities
        });
        if known {
            Ok(())
        } else {
            Err(UnknownEnvironment(environment.clone()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> EnvironmentId {
        text.parse().unwrap()
    }

    fn state(json: &str) -> Option<SandboxState> {
        serde_json::from_str(json).unwrap()
    }

    /// S8, B1
    #[test]
    fn a_capture_keeps_what_was_and_a_later_one_sees_what_is() {
        let authorities = Authorities::new([(id("a"), Authority::default())]);
        let before = authorities.capture();
        assert!(authorities.is_current(&before));
        let change = |authority: &mut Authority| authority.sandbox_state = state("[1]");
        authorities.change(&id("a"), change).unwrap();
        assert!(!authorities.is_current(&before));
        assert!(before[&id("a")].sandbox_state.is_none());
        let after = authorities.capture();
        let text = after[&id("a")]
            .sandbox_state
            .as_ref()
            .unwrap()
            .as_raw()
            .get();
        assert_eq!(text, "[1]");
        assert!(authorities.change(&id("b"), change).is_err());
    }

    /// E1
    #[test]
    fn a_server_of_the_host_lives_under_whichever_environment_is_primary() {
        let declining = Authority {
            elicitation: ElicitationPolicy::Decline,
            ..Authority::default()
        };
        let authorities = Arc::new(Authorities::new([
            (id("a"), Authority::default()),
            (id("b"), declining),
        ]));
        let primary = Primary::default();
        let (of_host, of_b) = (
            CurrentPermissions::new(None, &authorities, &primary),
            CurrentPermissions::new(Some(&id("b")), &authorities, &primary),
        );
        let policies = || [of_host.now().elicitation(), of_b.now().elicitation()];
        primary.set(id("a"));
        assert_eq!(
            policies(),
            [ElicitationPolicy::Ask, ElicitationPolicy::Decline]
        );
        primary.set(id("b"));
        assert_eq!(policies(), [ElicitationPolicy::Decline; 2]);
        let ask = |authority: &mut Authority| authority.elicitation = ElicitationPolicy::Ask;
        authorities.change(&id("b"), ask).unwrap();
        assert_eq!(policies(), [ElicitationPolicy::Ask; 2]);
    }
}
