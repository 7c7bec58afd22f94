//! Whether an executable is a launcher: asked once, remembered while the file stays the same (S5).

mod failure;
mod flight;
#[cfg(unix)]
mod unix;
mod verdicts;
#[cfg(windows)]
mod windows;

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::sandbox_launcher::SandboxLauncher;
pub use failure::{LauncherProbeError, ProbeFailure};
use flight::{Flight, Verdict};
#[cfg(unix)]
use unix as platform;
use verdicts::{Found, Verdicts};
#[cfg(windows)]
use windows as platform;

/// Finds out which executables can apply a sandbox state, for hosts (S5).
///
/// The question is `<executable> sandbox --sandbox-state-json {} --help`, without a shell, in the environment of the host,
/// with all three streams on the null device. Exit status 0 within [`TIME_LIMIT`](Self::TIME_LIMIT) means yes, anything
/// else means no.
///
/// Verdicts are kept by path and file identity (device, inode, size, times): a file that changed is asked again. That
/// it could not be started or took too long is forgotten after [`RETRY_AFTER`](Self::RETRY_AFTER).
///
/// Overlapping calls share one process, in a group of its own. Neither it nor what it has started is left when it has
/// ended, when it takes too long, or when every call that waits for it was dropped; not even a tokio runtime has to be
/// there for that. Who leaves the group is found on Linux by a variable in its environment, `MCP_LAUNCHER_PROBE`.
///
/// Clones share what they know: have one per process.
///
/// ```no_run
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use std::path::Path;
///
/// use mcp_sandbox_meta::{
///     EnvironmentLocality, LauncherProbe, RawMeta, SandboxMetadata, ServerTransport, launcher_is_reachable,
/// };
///
/// let probe = LauncherProbe::new(); // once, for all servers
///
/// // For every call to a server that opted in, with the state of the environment that owns it.
/// let state = serde_json::from_str(r#"{"permissionProfile": {"type": "disabled"}}"#)?;
/// let mut metadata = SandboxMetadata::new(state);
/// if launcher_is_reachable(ServerTransport::Stdio, EnvironmentLocality::Local) {
///     match probe.probe(Path::new("/usr/local/bin/codex")).await {
///         Ok(launcher) => metadata = metadata.with_launcher(launcher),
///         Err(refused) => eprintln!("{refused}"), // the call goes on without a launcher
///     }
/// }
/// let mut meta = RawMeta::new(); // or what `RawMeta::without_reserved` leaves of a caller's
/// metadata.insert_into(&mut meta);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default)]
pub struct LauncherProbe {
    verdicts: Arc<Mutex<Verdicts<Flight>>>,
}

impl LauncherProbe {
    /// How long an executable may take to answer.
    pub const TIME_LIMIT: Duration = Duration::from_secs(5);

    /// How long it is remembered that an executable could not be started or took too long.
    pub const RETRY_AFTER: Duration = Duration::from_secs(60);

    /// A probe that knows nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The launcher at `executable`, if it is one. Cancel-safe; takes [`TIME_LIMIT`](Self::TIME_LIMIT) and
    /// a moment at most.
    ///
    /// Looking at the file blocks for a moment; it is a local one.
    ///
    /// # Errors
    ///
    /// The path cannot be that of a launcher, or the executable does not answer as one: send no launcher.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime, or in one without a clock.
    pub async fn probe(&self, executable: &Path) -> Result<SandboxLauncher, LauncherProbeError> {
        let failed = |failure| LauncherProbeError::new(executable, failure);
        let launcher =
            SandboxLauncher::new(executable).map_err(|why| failed(ProbeFailure::Path(why)))?;
        self.verdict(executable).await.map_err(failed)?;
        Ok(launcher)
    }

    async fn verdict(&self, executable: &Path) -> Verdict {
        let identity = platform::FileIdentity::of(executable)?;
        let flight = {
            let mut verdicts = self.verdicts();
            match verdicts.find(executable, &identity, Instant::now()) {
                Some(Found::Verdict(verdict)) => return verdict,
                Some(Found::Flight(flight)) => flight,
                None => {
                    let flight = Arc::new(Flight::begin(executable)?);
                    verdicts.began(executable, identity.clone(), &flight);
                    flight
                }
            }
        };
        let verdict = flight.verdict().await;
        // It may have answered for another file than the one whose identity was taken.
        if platform::FileIdentity::of(executable)? != identity {
            return Err(ProbeFailure::Replaced);
        }
        self.verdicts()
            .settle(executable, &flight, verdict.clone(), Instant::now());
        verdict
    }

    fn verdicts(&self) -> MutexGuard<'_, Verdicts<Flight>> {
        // Entries are whole in any state.
        self.verdicts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
