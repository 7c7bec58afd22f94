//! The session with an endpoint: what is said with every request, and how a lost one is begun again (R10).

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::future::{BoxFuture, FutureExt, Shared};
use http::{HeaderMap, HeaderName, HeaderValue};
use tokio_util::sync::CancellationToken;

use super::endpoint::SESSION_ID;
use crate::connection::request::RequestError;

const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");

/// The end of the beginning of a new session, shared by everyone who waits for it.
pub(super) type Renewal = Shared<BoxFuture<'static, Result<(), Arc<RequestError>>>>;

/// The session as it is now.
#[derive(Debug, Default)]
pub(super) struct Session {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    id: Option<HeaderValue>,
    version: Option<HeaderValue>,
    /// How many sessions there have been before this one.
    generation: u64,
    renewal: Option<Renewal>,
    /// Cancelled when there is another session.
    over: CancellationToken,
    /// There will be no session any more.
    ended: bool,
}

/// What a request says of its session.
#[derive(Debug, Clone)]
pub(super) struct Stamp {
    pub(super) headers: HeaderMap,
    generation: u64,
    has_session: bool,
    over: CancellationToken,
}

impl Stamp {
    /// No session: what begins one.
    pub(super) fn none() -> Self {
        Self {
            headers: HeaderMap::new(),
            generation: 0,
            has_session: false,
            over: CancellationToken::new(),
        }
    }

    /// Whether there is a session to be lost.
    pub(super) fn has_session(&self) -> bool {
        self.has_session
    }

    /// Resolves when there is another session.
    pub(super) async fn over(&self) {
        self.over.cancelled().await;
    }
}

impl Session {
    /// The session as it is now, or as it will be when a renewal that is under way is over, whatever comes of that.
    pub(super) async fn settled(&self) -> Stamp {
        let renewal = self.state().renewal.clone();
        if let Some(renewal) = renewal {
            // Whoever asked for it is told how it ended.
            let _ = renewal.await;
        }
        self.stamp()
    }

    pub(super) fn stamp(&self) -> Stamp {
        let state = self.state();
        let mut headers = HeaderMap::new();
        headers.extend(state.id.clone().map(|id| (SESSION_ID, id)));
        headers.extend(
            state
                .version
                .clone()
                .map(|version| (PROTOCOL_VERSION, version)),
        );
        Stamp {
            headers,
            generation: state.generation,
            has_session: state.id.is_some(),
            over: state.over.clone(),
        }
    }

    /// The endpoint has opened a session, or does without.
    pub(super) fn opened(&self, mut id: Option<HeaderValue>) {
        // Who has it is in the session.
        if let Some(id) = &mut id {
            id.set_sensitive(true);
        }
        let mut state = self.state();
        state.id = id;
        state.generation += 1;
        std::mem::take(&mut state.over).cancel();
    }

    /// A version was agreed on; it is said from now on.
    pub(super) fn agreed(&self, version: &str) {
        self.state().version = HeaderValue::from_str(version).ok();
    }

    /// The session ends, for good: what names it, if there is one to be ended.
    pub(super) fn end(&self) -> Option<HeaderMap> {
        let headers = self.stamp().headers;
        let mut state = self.state();
        state.ended = true;
        state.id.take().map(|_| headers)
    }

    /// The renewal of the session of `lost`: one that is under way, or else what `begin` makes; `None` when there is a
    /// newer session already.
    pub(super) fn renewal(
        &self,
        lost: &Stamp,
        begin: impl FnOnce() -> BoxFuture<'static, Result<(), Arc<RequestError>>>,
    ) -> Option<Renewal> {
        let mut state = self.state();
        if state.generation != lost.generation {
            return None;
        }
        let renewal = state.renewal.get_or_insert_with(|| begin().shared());
        Some(renewal.clone())
    }

    /// The renewal of the session of `lost` is over. If nothing came of it, that one is still the one to be renewed:
    /// whatever the endpoint has opened meanwhile is no session that can be used, and is returned to be ended.
    pub(super) fn renewed(&self, is_begun: bool, lost: &Stamp) -> Option<HeaderMap> {
        let headers = self.stamp().headers;
        let mut state = self.state();
        state.renewal = None;
        if is_begun && !state.ended {
            return None;
        }
        let opened = state.id.take().map(|_| headers);
        let opened =
            opened.filter(|headers| headers.get(SESSION_ID) != lost.headers.get(SESSION_ID));
        if !state.ended {
            state.id = lost.headers.get(SESSION_ID).cloned();
            state.generation = lost.generation;
        }
        opened
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // The state is whole between any two statements.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &'static str) -> Option<HeaderValue> {
        Some(HeaderValue::from_static(text))
    }

    #[tokio::test]
    async fn whoever_notices_a_loss_shares_one_renewal() {
        let session = Session::default();
        session.opened(id("1"));
        let lost = session.stamp();
        let begun = std::cell::Cell::new(0);
        let renewal = || {
            session.renewal(&lost, || {
                begun.set(begun.get() + 1);
                std::future::ready(Ok(())).boxed()
            })
        };
        let (one, two) = (renewal().unwrap(), renewal().unwrap());
        assert!(one.await.is_ok() && two.await.is_ok());
        assert_eq!(begun.get(), 1);

        session.opened(None);
        assert!(session.renewed(false, &lost).is_none());
        let again = renewal().expect("it is still to be renewed");
        assert!(again.await.is_ok());
        assert_eq!(begun.get(), 2);

        session.opened(id("2"));
        assert!(session.renewed(true, &lost).is_none());
        assert!(renewal().is_none(), "there is a newer session");
        assert_eq!(begun.get(), 2);
    }

    /// R11: no session is left to the endpoint that nobody uses.
    #[test]
    fn what_was_opened_in_vain_is_to_be_ended() {
        let named = |headers: Option<HeaderMap>| {
            headers.and_then(|headers| headers.get(SESSION_ID).cloned())
        };
        let session = Session::default();
        session.opened(id("1"));
        let lost = session.stamp();
        session.opened(id("2"));
        assert_eq!(named(session.renewed(false, &lost)), id("2"));
        assert_eq!(
            named(session.end()),
            id("1"),
            "the first one is still the one that counts"
        );

        let session = Session::default();
        session.opened(id("1"));
        let lost = session.stamp();
        assert_eq!(named(session.end()), id("1"));
        session.opened(id("2"));
        assert_eq!(
            named(session.renewed(true, &lost)),
            id("2"),
            "it came too late"
        );
        assert!(session.end().is_none(), "nothing is ended twice");

        let session = Session::default();
        session.opened(id("1"));
        let lost = session.stamp();
        assert!(session.end().is_some());
        assert!(session.renewed(false, &lost).is_none());
        assert!(session.end().is_none(), "nothing is ended twice");
    }

    #[test]
    fn a_request_says_what_was_agreed_so_far() {
        let session = Session::default();
        let said = || {
            let headers = session.stamp().headers;
            [SESSION_ID, PROTOCOL_VERSION].map(|name| {
                headers
                    .get(name)
                    .map(|value| value.to_str().unwrap().to_owned())
            })
        };
        assert_eq!(said(), [None, None]);
        session.opened(id("1"));
        session.agreed("2025-11-25");
        assert_eq!(
            said(),
            [Some("1".to_owned()), Some("2025-11-25".to_owned())]
        );
        assert!(session.end().is_some());
        assert_eq!(said(), [None, Some("2025-11-25".to_owned())]);
        assert!(session.end().is_none(), "it ends once");
    }
}
