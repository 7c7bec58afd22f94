//! Startups on a script and a paused clock.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_catalog::{
    CredentialIdentity, DiscoveryClient, DiscoveryHandshake, DiscoveryScope, DiscoveryScopeBuilder,
    DiscoveryTransport, Fetched, JoinError, Origin, SharedListings, Sharing,
};
use mcp_keys::{McpServerKey, ServerName};
use tokio::time::{Instant, sleep_until, timeout_at};

/// What was listed, and over whose connection. It cannot be cloned: nothing may need that.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Item {
    pub(crate) fetched_by: usize,
}

/// What a fetch of a startup does, so many milliseconds after it began.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Fetch {
    Lists(u64),
    ListsCutShort(u64),
    Fails(u64),
    Panics(u64),
    Hangs,
}

/// One startup. Times are milliseconds of the scenario, except for the budget.
#[derive(Debug, Clone)]
pub(crate) struct Startup {
    begins: u64,
    budget: u64,
    fetch: Fetch,
    scope: &'static str,
    sharing: Sharing,
    dropped: Option<u64>,
}

/// How a startup ended, and when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum End {
    /// With the listing of its own fetch, in this role.
    Own(Origin, u64),
    /// With the listing that this startup fetched.
    Took(usize, u64),
    /// With its own error.
    Failed(u64),
    /// Out of time, so much of it spent waiting for others.
    TimedOut { at: u64, waited: u64 },
    /// By its own panic.
    Panicked,
    /// Dropped.
    Dropped(u64),
}

/// What came of a scenario.
pub(crate) struct Report {
    pub(crate) ends: Vec<End>,
    /// Who began a fetch, and when.
    pub(crate) fetches: Vec<(usize, u64)>,
}

/// The error of a startup's own fetch. It says whose, so that nobody can get another's.
#[derive(Debug, thiserror::Error)]
#[error("the server did not answer startup {0}")]
pub(crate) struct NoAnswer(pub(crate) usize);

impl Startup {
    /// Begins at once, with thirty seconds.
    pub(crate) fn new(fetch: Fetch) -> Self {
        Self {
            begins: 0,
            budget: 30_000,
            fetch,
            scope: "docs",
            sharing: Sharing::Shared,
            dropped: None,
        }
    }

    pub(crate) fn begins(self, begins: u64) -> Self {
        Self { begins, ..self }
    }

    pub(crate) fn budget(self, budget: u64) -> Self {
        Self { budget, ..self }
    }

    pub(crate) fn scope(self, scope: &'static str) -> Self {
        Self { scope, ..self }
    }

    pub(crate) fn opted_out(self) -> Self {
        let sharing = Sharing::OptedOut;
        Self { sharing, ..self }
    }

    pub(crate) fn dropped(self, at: u64) -> Self {
        let dropped = Some(at);
        Self { dropped, ..self }
    }
}

/// A scope of its own for each server name.
pub(crate) fn scope(server: &str) -> DiscoveryScope {
    scope_for(server, CredentialIdentity::None)
}

pub(crate) fn scope_for(server: &str, credential: CredentialIdentity<'_>) -> DiscoveryScope {
    let name = ServerName::new(server).expect("test servers have valid names");
    DiscoveryScopeBuilder::new(
        &McpServerKey::host(name),
        "local",
        &DiscoveryTransport::http("https://docs.example/mcp", [("x-team", "1")]),
        credential,
        &DiscoveryClient::new("host", "1.0", "{}"),
        &DiscoveryHandshake::new("legacy", "2025-11-25", "{}", "{}"),
    )
    .build()
}

struct Stage {
    zero: Instant,
    listings: SharedListings<Item>,
    fetches: Mutex<Vec<(usize, u64)>>,
    fetching: AtomicUsize,
}

impl Stage {
    fn at(&self, millis: u64) -> Instant {
        self.zero + Duration::from_millis(millis)
    }

    fn now(&self) -> u64 {
        millis(self.zero.elapsed())
    }

    async fn fetch(&self, number: usize, fetch: Fetch) -> Result<Fetched<Item>, NoAnswer> {
        /// Counts itself out on every path.
        struct Running<'a>(&'a AtomicUsize);
        impl Drop for Running<'_> {
            fn drop(&mut self) {
                self.0.fetch_sub(1, Ordering::Relaxed);
            }
        }

        self.fetches.lock().unwrap().push((number, self.now()));
        self.fetching.fetch_add(1, Ordering::Relaxed);
        let _running = Running(&self.fetching);
        let items = vec![Item { fetched_by: number }];
        let after = |millis| tokio::time::sleep(Duration::from_millis(millis));
        match fetch {
            Fetch::Lists(millis) => after(millis).await,
            Fetch::ListsCutShort(millis) => {
                after(millis).await;
                return Ok(Fetched::cut_short(items));
            }
            Fetch::Fails(millis) => {
                after(millis).await;
                return Err(NoAnswer(number));
            }
            Fetch::Panics(millis) => {
                after(millis).await;
                panic!("the fetch of startup {number} panics, as scripted");
            }
            Fetch::Hangs => std::future::pending().await,
        }
        Ok(Fetched::complete(items))
    }

    async fn start_up(&self, number: usize, startup: Startup) -> End {
        sleep_until(self.at(startup.begins)).await;
        let join = self.listings.join(
            &scope(startup.scope),
            startup.sharing,
            Instant::now() + Duration::from_millis(startup.budget),
            || self.fetch(number, startup.fetch),
        );
        let joined = match startup.dropped {
            None => join.await,
            Some(at) => match timeout_at(self.at(at), join).await {
                Ok(joined) => joined,
                Err(_) => return End::Dropped(self.now()),
            },
        };
        match joined {
            Ok(listing) => {
                let [Item { fetched_by }] = listing.items() else {
                    panic!("every fetch lists one item");
                };
                assert_eq!(listing.origin().is_shared(), *fetched_by != number);
                if listing.origin().is_shared() {
                    assert!(!listing.is_cut_short(), "C6");
                    let spent = self.now() - startup.begins;
                    assert_eq!(millis(listing.waited()), spent, "waited from start to end");
                    End::Took(*fetched_by, self.now())
                } else {
                    End::Own(listing.origin(), self.now())
                }
            }
            Err(JoinError::Fetch(NoAnswer(whose))) => {
                assert_eq!(whose, number, "a failure is never handed to another");
                End::Failed(self.now())
            }
            Err(JoinError::Timeout(timeout)) => {
                assert_eq!(millis(timeout.budget()), startup.budget);
                let waited = millis(timeout.waited());
                End::TimedOut {
                    at: self.now(),
                    waited,
                }
            }
        }
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).expect("scenarios last seconds")
}

/// Plays startups to their ends. They are numbered in the order given.
pub(crate) async fn play(startups: impl IntoIterator<Item = Startup>) -> Report {
    let stage = Arc::new(Stage {
        zero: Instant::now(),
        listings: SharedListings::new(),
        fetches: Mutex::default(),
        fetching: AtomicUsize::new(0),
    });
    let tasks: Vec<_> = startups
        .into_iter()
        .enumerate()
        .map(|(number, startup)| {
            let stage = Arc::clone(&stage);
            tokio::spawn(async move { stage.start_up(number, startup).await })
        })
        .collect();
    let mut ends = Vec::new();
    for task in tasks {
        ends.push(task.await.unwrap_or_else(|error| {
            assert!(error.is_panic(), "nobody aborts startups");
            End::Panicked
        }));
    }
    assert_eq!(stage.listings.in_flight(), 0, "C7: no flight stays behind");
    assert_eq!(
        stage.fetching.load(Ordering::Relaxed),
        0,
        "no fetch goes on"
    );
    let fetches = std::mem::take(&mut *stage.fetches.lock().unwrap());
    Report { ends, fetches }
}

/// Plays startups and compares how each ended, and who fetched when.
pub(crate) async fn check<const N: usize>(
    startups: [Startup; N],
    ends: [End; N],
    fetches: &[(usize, u64)],
) {
    let report = play(startups).await;
    assert_eq!(report.ends, ends, "ends");
    assert_eq!(report.fetches, fetches, "fetches");
}
