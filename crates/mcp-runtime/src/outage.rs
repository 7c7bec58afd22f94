//! [`Outage`]: a connection that ended, and what is done about it (R10).

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use crate::connection::Disconnect;
use crate::startup::StartupError;

/// Why a server that was connected no longer is, and whether it is being connected again.
///
/// As an error: how the connection ended, and as its source why the last attempt to make a new one failed.
#[derive(Debug, Clone)]
pub struct Outage {
    shared: Arc<Shared>,
}

#[derive(Debug, Clone)]
struct Shared {
    why: Arc<Disconnect>,
    is_reconnecting: bool,
    failed_attempts: u32,
    last_failure: Option<Arc<StartupError>>,
}

impl Outage {
    pub(crate) fn new(why: Arc<Disconnect>, is_reconnecting: bool) -> Self {
        Self {
            shared: Arc::new(Shared {
                why,
                is_reconnecting,
                failed_attempts: 0,
                last_failure: None,
            }),
        }
    }

    /// The same outage after one more attempt that failed.
    pub(crate) fn after(&self, failure: StartupError) -> Self {
        self.but(|shared| {
            shared.failed_attempts = shared.failed_attempts.saturating_add(1);
            shared.last_failure = Some(Arc::new(failure));
        })
    }

    /// The same outage when nothing more will be attempted.
    pub(crate) fn given_up(&self) -> Self {
        self.but(|shared| shared.is_reconnecting = false)
    }

    fn but(&self, change: impl FnOnce(&mut Shared)) -> Self {
        let mut shared = Shared::clone(&self.shared);
        change(&mut shared);
        Self {
            shared: Arc::new(shared),
        }
    }

    /// Whether nothing has been heard since: no attempt failed, nothing was given up.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }

    /// How the connection ended.
    #[must_use]
    pub fn why(&self) -> &Disconnect {
        &self.shared.why
    }

    /// Whether the server is being connected again.
    #[must_use]
    pub fn is_reconnecting(&self) -> bool {
        self.shared.is_reconnecting
    }

    /// How many attempts to connect again have failed.
    #[must_use]
    pub fn failed_attempts(&self) -> u32 {
        self.shared.failed_attempts
    }

    /// Why the last attempt failed.
    #[must_use]
    pub fn last_failure(&self) -> Option<&StartupError> {
        self.shared.last_failure.as_deref()
    }

    /// The last lines that the server wrote to its standard error, in the last attempt or before it; empty when there
    /// were none.
    #[must_use]
    pub fn stderr_tail(&self) -> &str {
        let of_attempt = self.last_failure().map_or("", StartupError::stderr_tail);
        if of_attempt.is_empty() {
            self.why().stderr_tail()
        } else {
            of_attempt
        }
    }
}

impl fmt::Display for Outage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.why())?;
        if self.is_reconnecting() {
            f.write_str("; it is being reconnected")?;
        }
        match self.failed_attempts() {
            0 => Ok(()),
            number => write!(f, "; attempt {number} to reconnect failed"),
        }
    }
}

impl Error for Outage {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        let failure = self.shared.last_failure.as_ref()?;
        Some(failure.as_ref())
    }
}
