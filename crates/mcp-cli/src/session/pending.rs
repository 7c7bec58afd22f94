//! Requests under way, so that they can be cancelled by their ids.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio_util::sync::CancellationToken;

use super::answer::Success;
use crate::report::ErrorReport;

/// The pending requests of a session, by the JSON text of their ids.
#[derive(Debug, Default)]
pub(super) struct Pending {
    requests: Mutex<HashMap<String, CancellationToken>>,
}

/// One pending request; dropping it frees its id.
#[derive(Debug)]
pub(super) struct Place {
    id: Option<String>,
    cancelled: CancellationToken,
    pending: Arc<Pending>,
}

impl Pending {
    /// Takes an id, if the request has one and no other request has it.
    pub(super) fn begin(self: &Arc<Self>, id: Option<&str>) -> Result<Place, ErrorReport> {
        let cancelled = CancellationToken::new();
        if let Some(id) = id {
            match self.requests().entry(id.to_owned()) {
                Entry::Occupied(_) => {
                    let message = "a request with this id is still pending; use another id";
                    return Err(ErrorReport::invalid(message));
                }
                Entry::Vacant(free) => free.insert(cancelled.clone()),
            };
        }
        Ok(Place {
            id: id.map(ToOwned::to_owned),
            cancelled,
            pending: self.clone(),
        })
    }

    /// Cancels a request; `false` when there is none of that id.
    pub(super) fn cancel(&self, id: &str) -> bool {
        self.requests()
            .get(id)
            .map(CancellationToken::cancel)
            .is_some()
    }

    /// Cancels every request.
    pub(super) fn cancel_all(&self) {
        self.requests().values().for_each(CancellationToken::cancel);
    }

    fn requests(&self) -> MutexGuard<'_, HashMap<String, CancellationToken>> {
        // Every map operation is complete or has not begun.
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place {
    /// Runs the work of the request; cancelling drops it, as a host would.
    pub(super) async fn run(
        &self,
        work: impl Future<Output = Result<Success, ErrorReport>>,
    ) -> Result<Success, ErrorReport> {
        tokio::select! {
            biased;
            () = self.cancelled.cancelled() => Err(ErrorReport::cancelled()),
            result = work => result,
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(id) = &self.id {
            self.pending.requests().remove(id);
        }
    }
}
