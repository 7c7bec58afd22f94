//! [`KnownEras`]: what was found out about servers, so that they are not asked again (R5).

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mcp_catalog::DiscoveryTransport;

use crate::connection::SpokenEra;

/// How many servers are remembered. Beyond it everything is forgotten, which costs a probe each.
const LIMIT: usize = 4_096;

/// Which era servers speak, by what is launched or connected to, whatever its name. Cloning is cheap, and every clone is
/// the same.
#[derive(Debug, Clone, Default)]
pub(crate) struct KnownEras {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    /// What is launched may hold secrets, so only a keyed hash of it is kept. Two that have the same one cost a probe.
    fingerprints: RandomState,
    eras: Mutex<HashMap<u64, SpokenEra>>,
}

impl KnownEras {
    /// The era that was spoken last.
    pub(super) fn of(&self, transport: &DiscoveryTransport) -> Option<SpokenEra> {
        let fingerprint = self.shared.fingerprints.hash_one(transport);
        self.shared.eras().get(&fingerprint).copied()
    }

    /// A server has agreed to this era.
    pub(super) fn remember(&self, transport: &DiscoveryTransport, era: SpokenEra) {
        let fingerprint = self.shared.fingerprints.hash_one(transport);
        let mut eras = self.shared.eras();
        if eras.len() >= LIMIT && !eras.contains_key(&fingerprint) {
            eras.clear();
        }
        eras.insert(fingerprint, era);
    }
}

impl Shared {
    fn eras(&self) -> MutexGuard<'_, HashMap<u64, SpokenEra>> {
        // Every map operation is complete or has not begun.
        self.eras.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn stdio(
        command: &str,
        arguments: &[&str],
        cwd: Option<&str>,
        environment: &[(&str, &str)],
    ) -> DiscoveryTransport {
        let environment = environment.iter().copied();
        DiscoveryTransport::stdio(command, arguments, cwd.map(Path::new), environment)
    }

    fn http(url: &str, headers: &[(&str, &str)]) -> DiscoveryTransport {
        DiscoveryTransport::http(url, headers.iter().copied())
    }

    /// R5: what is launched decides.
    #[test]
    fn an_era_is_known_of_the_very_same_launch_only() {
        let launches = [
            stdio("docs", &["a"], None, &[]),
            stdio("web", &["a"], None, &[]),
            stdio("docs", &["b"], None, &[]),
            stdio("docs", &["a"], Some("/here"), &[]),
            stdio("docs", &["a"], None, &[("LEVEL", "1")]),
            stdio("docs", &["a"], None, &[("LEVEL", "2")]),
            http("http://127.0.0.1/a", &[]),
            http("http://127.0.0.1/b", &[]),
            http("http://127.0.0.1/a", &[("x-team", "tools")]),
        ];
        for (at, launch) in launches.iter().enumerate() {
            let known = KnownEras::default();
            known.remember(launch, SpokenEra::Modern);
            for (other_at, other) in launches.iter().enumerate() {
                let expected = (at == other_at).then_some(SpokenEra::Modern);
                assert_eq!(known.clone().of(other), expected, "{at} and {other_at}");
            }
        }
    }

    /// R5
    #[test]
    fn the_era_spoken_last_counts() {
        let (known, launch) = (KnownEras::default(), stdio("docs", &[], None, &[]));
        known.remember(&launch, SpokenEra::Modern);
        known.remember(&launch, SpokenEra::Legacy);
        assert_eq!(known.of(&launch), Some(SpokenEra::Legacy));
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let known = KnownEras::default();
        for number in 0..=LIMIT {
            known.remember(
                &stdio(&number.to_string(), &[], None, &[]),
                SpokenEra::Modern,
            );
        }
        assert_eq!(known.shared.eras().len(), 1);
    }
}
