//! What is known about executables.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

use tokio::time::Instant;

use super::LauncherProbe;
use super::flight::Verdict;
use super::platform::FileIdentity;

/// The most paths remembered. A host has one launcher, or a few.
const MOST: usize = 64;

/// Verdicts and running probes by path. `F` is a running probe.
#[derive(Debug)]
pub(super) struct Verdicts<F> {
    entries: HashMap<PathBuf, Entry<F>>,
    /// Counts uses, to tell which entry was used last.
    uses: u64,
}

#[derive(Debug)]
struct Entry<F> {
    identity: FileIdentity,
    used: u64,
    knowledge: Knowledge<F>,
}

#[derive(Debug)]
enum Knowledge<F> {
    /// Gone when nobody waits for it any more.
    Asked(Weak<F>),
    Settled {
        verdict: Verdict,
        until: Option<Instant>,
    },
}

/// What is there for whoever asks.
#[derive(Debug)]
pub(super) enum Found<F> {
    Verdict(Verdict),
    Flight(Arc<F>),
}

impl<F> Default for Verdicts<F> {
    fn default() -> Self {
        Self {
            entries: HashMap::new(),
            uses: 0,
        }
    }
}

impl<F> Verdicts<F> {
    pub(super) fn find(
        &mut self,
        path: &Path,
        identity: &FileIdentity,
        now: Instant,
    ) -> Option<Found<F>> {
        self.uses += 1;
        let entry = self.entries.get_mut(path)?;
        if entry.identity != *identity {
            return None;
        }
        entry.used = self.uses;
        match &entry.knowledge {
            Knowledge::Asked(flight) => flight.upgrade().map(Found::Flight),
            Knowledge::Settled { verdict, until } => until
                .is_none_or(|until| now < until)
                .then(|| Found::Verdict(verdict.clone())),
        }
    }

    /// Replaces whatever was known about `path`; makes room where there is none.
    pub(super) fn began(&mut self, path: &Path, identity: FileIdentity, flight: &Arc<F>) {
        if self.entries.len() >= MOST && !self.entries.contains_key(path) {
            let oldest = self.entries.iter().min_by_key(|(_, entry)| entry.used);
            if let Some(oldest) = oldest.map(|(path, _)| path.clone()) {
                self.entries.remove(&oldest);
            }
        }
        let entry = Entry {
            identity,
            used: self.uses,
            knowledge: Knowledge::Asked(Arc::downgrade(flight)),
        };
        self.entries.insert(path.to_owned(), entry);
    }

    /// Keeps the verdict of `flight`, unless something newer is known.
    pub(super) fn settle(&mut self, path: &Path, flight: &Arc<F>, verdict: Verdict, now: Instant) {
        if let Some(entry) = self.entries.get_mut(path)
            && let Knowledge::Asked(asked) = &entry.knowledge
            && Weak::ptr_eq(asked, &Arc::downgrade(flight))
        {
            let passes = verdict.as_ref().is_err_and(|failure| failure.may_pass());
            entry.knowledge = Knowledge::Settled {
                verdict,
                until: passes.then(|| now + LauncherProbe::RETRY_AFTER),
            };
        }
    }
}

#[cfg(test)]
mod tests;
