//! The program that can apply a sandbox state, as an environment names it (S4, S5).

use std::path::PathBuf;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};

use mcp_sandbox_meta::{LauncherProbe, SandboxLauncher};

use crate::chain::ErrorChain;

/// What is known of executables. It is about files of this machine, so every runtime of the process knows the same, and
/// an executable is asked once for all of them.
static PROBE: LazyLock<LauncherProbe> = LazyLock::new(LauncherProbe::new);

/// An executable that may be a launcher. It is asked when a call would name it, and not before.
#[derive(Debug)]
pub(crate) struct Launcher {
    executable: PathBuf,
    /// Whether it has been told that it cannot be used: once, not with each call.
    told: AtomicBool,
}

impl Launcher {
    pub(crate) fn new(executable: PathBuf) -> Self {
        Self {
            executable,
            told: AtomicBool::new(false),
        }
    }

    /// What a server is told of it; nothing when it is no launcher. Cancel-safe.
    pub(crate) async fn probed(&self) -> Option<SandboxLauncher> {
        match PROBE.probe(&self.executable).await {
            Ok(launcher) => {
                self.told.store(false, Ordering::Relaxed);
                Some(launcher)
            }
            Err(error) => {
                if !self.told.swap(true, Ordering::Relaxed) {
                    tracing::warn!(error = %ErrorChain(&error), "calls are made without a sandbox launcher");
                }
                None
            }
        }
    }
}
