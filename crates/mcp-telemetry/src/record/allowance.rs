//! How many different texts of others may become attributes of metrics (T3).

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

/// Distinct free-form error codes of one server, at most.
const CODES_PER_SERVER: usize = 32;
/// Distinct free-form error codes of all servers, at most.
const CODES: usize = 512;
/// Distinct tool names of one server, at most. A large server of today lists about a hundred.
const TOOLS_PER_SERVER: usize = 128;
/// Distinct tool names of all servers, at most.
const TOOLS: usize = 1024;

/// The texts that have been admitted so far. What is admitted stays admitted: a series does not change its name.
#[derive(Debug)]
pub(super) struct Allowance {
    limit: usize,
    admitted: Mutex<HashSet<Arc<str>>>,
}

impl Allowance {
    pub(super) fn codes() -> Self {
        Self::of(CODES)
    }

    pub(super) fn codes_of_server() -> Self {
        Self::of(CODES_PER_SERVER)
    }

    pub(super) fn tools() -> Self {
        Self::of(TOOLS)
    }

    pub(super) fn tools_of_server() -> Self {
        Self::of(TOOLS_PER_SERVER)
    }

    fn of(limit: usize) -> Self {
        let admitted = Mutex::default();
        Self { limit, admitted }
    }

    /// The text as an attribute, if there is room for it here and in `all`.
    pub(super) fn admit(&self, all: &Self, text: &str) -> Option<Arc<str>> {
        let mut mine = self.admitted.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = mine.get(text) {
            return Some(known.clone());
        }
        if mine.len() >= self.limit {
            return None;
        }
        let mut all_admitted = all.admitted.lock().unwrap_or_else(PoisonError::into_inner);
        let shared = match all_admitted.get(text) {
            Some(known) => known.clone(),
            None if all_admitted.len() >= all.limit => return None,
            None => {
                let shared: Arc<str> = text.into();
                all_admitted.insert(shared.clone());
                shared
            }
        };
        mine.insert(shared.clone());
        Some(shared)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many of `count` different texts each of `servers` gets admitted.
    fn admitted(all: &Allowance, servers: &[Allowance], count: usize, prefix: &str) -> Vec<usize> {
        let texts: Vec<_> = (0..count).map(|n| format!("{prefix}{n}")).collect();
        let of = |server: &Allowance| {
            let admits = |text: &&String| server.admit(all, text).is_some();
            texts.iter().filter(admits).count()
        };
        servers.iter().map(of).collect()
    }

    /// T3
    #[test]
    fn a_server_has_its_own_limit_and_all_have_one_together() {
        let all = Allowance::codes();
        let servers: Vec<_> = (0..17).map(|_| Allowance::codes_of_server()).collect();
        for (n, server) in servers[..16].iter().enumerate() {
            let prefix = format!("server {n}, code ");
            let server = std::slice::from_ref(server);
            assert_eq!(admitted(&all, server, 10_000, &prefix), [32], "{prefix}");
            assert_eq!(
                admitted(&all, server, 32, &prefix),
                [32],
                "what was admitted stays so"
            );
        }
        let last = &servers[16..];
        assert_eq!(admitted(&all, last, 100, "new "), [0], "512 are there");
        assert_eq!(
            admitted(&all, last, 100, "server 0, code "),
            [32],
            "a code that others have is not new"
        );
    }
}
