//! The one primitive under the hand-made synchronisation, so that shuttle can take its place.

use std::sync::PoisonError;
#[cfg(not(all(test, shuttle)))]
use std::sync::{Mutex, MutexGuard};

#[cfg(all(test, shuttle))]
use shuttle::sync::{Mutex, MutexGuard};

/// A mutex held for a few instructions, never across an await and never while foreign code runs.
pub(crate) struct Lock<T>(Mutex<T>);

impl<T> Lock<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(Mutex::new(value))
    }

    /// Poison is passed over: nothing that can panic runs while the lock is held.
    pub(crate) fn hold(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
