//! The calls under way on one connection: whose clock stands still while a person is asked (B3).
//!
//! Invariants: a call is in the table from before its request is sent until its outcome is known; a pause of which the
//! call cannot be told holds every call of the table, those included that begin while it is open. The lock is held for
//! map operations and the arithmetic of clocks.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::call::CallId;
use crate::clock::{self, PauseId};
use crate::deadline::Deadline;
use crate::permissions::Permissions;

/// The table of one connection.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    calls: HashMap<CallId, Call>,
    /// Open pauses that hold every call, each with the moment it ceases to count.
    common: Vec<(PauseId, Instant)>,
}

#[derive(Debug)]
struct Call {
    deadline: Deadline,
    /// Those of its binding.
    permissions: Permissions,
    given_up: CancellationToken,
}

/// A place in the table. Dropped before [`answered`](Self::answered), the call was given up.
#[derive(Debug)]
pub(crate) struct UnderWay {
    call: CallId,
    answered: bool,
    calls: Arc<Calls>,
}

/// An open pause; dropping it ends it.
#[derive(Debug)]
pub(crate) struct Pause {
    id: PauseId,
    /// The one clock it holds; otherwise it holds all.
    of: Option<Deadline>,
    given_up: CancellationToken,
    calls: Arc<Calls>,
}

impl Calls {
    /// Enters a call.
    pub(crate) fn begin(
        self: &Arc<Self>,
        call: CallId,
        permissions: Permissions,
        deadline: &Deadline,
    ) -> UnderWay {
        let mut state = self.state();
        for (pause, until) in &state.common {
            deadline.pause(*pause, *until);
        }
        let entry = Call {
            deadline: deadline.clone(),
            permissions,
            given_up: CancellationToken::new(),
        };
        state.calls.insert(call, entry);
        drop(state);
        UnderWay {
            call,
            answered: false,
            calls: self.clone(),
        }
    }

    /// Stops the clock of this call, or every clock when it cannot be told whose it is, for `cap` at most.
    pub(crate) fn pause(self: &Arc<Self>, call: Option<CallId>, cap: Duration) -> Pause {
        let (id, until) = (PauseId::next(), clock::from_now(cap));
        let mut state = self.state();
        let (of, given_up) = match call.map(|call| state.calls.get(&call)) {
            Some(Some(call)) => {
                call.deadline.pause(id, until);
                (Some(call.deadline.clone()), call.given_up.clone())
            }
            // It is over, and with it whatever was asked on its behalf.
            Some(None) => {
                let over = CancellationToken::new();
                over.cancel();
                (None, over)
            }
            None => {
                state.common.push((id, until));
                let calls = state.calls.values();
                calls.for_each(|call| call.deadline.pause(id, until));
                (None, CancellationToken::new())
            }
        };
        drop(state);
        Pause {
            id,
            of,
            given_up,
            calls: self.clone(),
        }
    }

    /// The permissions under which a call was captured; `None` when it is over.
    pub(crate) fn permissions(&self, call: CallId) -> Option<Permissions> {
        let state = self.state();
        state.calls.get(&call).map(|call| call.permissions.clone())
    }

    /// A call reported progress (B4).
    pub(crate) fn progressed(&self, call: CallId) {
        if let Some(call) = self.state().calls.get(&call) {
            call.deadline.restart();
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Every map operation is complete or has not begun, so a panic elsewhere does not spoil the table.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl UnderWay {
    /// The server has answered, or is gone: what is still asked is not given up with the call.
    pub(crate) fn answered(mut self) {
        self.answered = true;
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        // The lock is gone before anybody is woken.
        let call = self.calls.state().calls.remove(&self.call);
        if let Some(call) = call.filter(|_| !self.answered) {
            call.given_up.cancel();
        }
    }
}

impl Pause {
    /// Resolves when nobody waits for the call any more.
    pub(crate) async fn given_up(&self) {
        self.given_up.cancelled().await;
    }
}

impl Drop for Pause {
    fn drop(&mut self) {
        if let Some(deadline) = &self.of {
            return deadline.resume(self.id);
        }
        let mut state = self.calls.state();
        state.common.retain(|(id, _)| *id != self.id);
        for call in state.calls.values() {
            call.deadline.resume(self.id);
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;
    use tokio::time::advance;

    use super::*;

    const BUDGET: Duration = Duration::from_secs(2);

    fn free() -> Permissions {
        Permissions::default()
    }
    const LONG: Duration = Duration::from_secs(60);
    const CAP: Duration = Duration::from_secs(600);

    /// Two calls on a connection.
    struct Two {
        calls: Arc<Calls>,
        deadlines: [Deadline; 2],
        ids: [CallId; 2],
        under_way: [UnderWay; 2],
    }

    fn two() -> Two {
        let calls = Arc::new(Calls::default());
        let deadlines = [(); 2].map(|()| Deadline::after(BUDGET));
        let ids = [(); 2].map(|()| CallId::next());
        let [one, other] = &deadlines;
        let under_way = [
            calls.begin(ids[0], free(), one),
            calls.begin(ids[1], free(), other),
        ];
        Two {
            calls,
            deadlines,
            ids,
            under_way,
        }
    }

    /// B3
    #[tokio::test(flavor = "current_thread", start_paused = true)]
    async fn a_pause_of_one_call_does_not_hold_the_other() {
        let two = two();
        let pause = two.calls.pause(Some(two.ids[0]), CAP);
        advance(LONG).await;
        drop(pause);
        assert_eq!(two.deadlines[0].remaining(), BUDGET);
        assert!(two.deadlines[1].has_passed());
    }

    /// B3
    #[tokio::test(flavor = "current_thread", start_paused = true)]
    async fn a_pause_of_nobody_knows_which_call_holds_them_all_and_those_that_come() {
        let two = two();
        let pause = two.calls.pause(None, CAP);
        advance(LONG).await;
        let late = Deadline::after(BUDGET);
        let _late = two.calls.begin(CallId::next(), free(), &late);
        advance(LONG).await;
        drop(pause);
        let [one, other] = &two.deadlines;
        for deadline in [one, other, &late] {
            assert_eq!(deadline.remaining(), BUDGET);
        }
        let later = Deadline::after(BUDGET);
        let _later = two.calls.begin(CallId::next(), free(), &later);
        advance(BUDGET).await;
        for deadline in [one, other, &late, &later] {
            assert!(deadline.has_passed(), "the pause is over");
        }
    }

    /// B3: for those that come later too, the pause counts from when it began.
    #[tokio::test(flavor = "current_thread", start_paused = true)]
    async fn a_pause_is_capped() {
        let two = two();
        let _pause = two.calls.pause(None, CAP);
        advance(CAP).await;
        let late = Deadline::after(BUDGET);
        let _late = two.calls.begin(CallId::next(), free(), &late);
        advance(BUDGET).await;
        assert!(two.deadlines[0].has_passed() && late.has_passed());
    }

    /// B4
    #[tokio::test(flavor = "current_thread", start_paused = true)]
    async fn a_call_that_is_given_up_gives_up_what_is_asked_for_it() {
        let Two {
            calls,
            ids,
            under_way: [one, other],
            ..
        } = two();
        let [first, second, all] =
            [Some(ids[0]), Some(ids[1]), None].map(|call| calls.pause(call, CAP));
        let given_up = |pause: &Pause| pause.given_up().now_or_never().is_some();
        drop(one);
        assert!(given_up(&first) && !given_up(&second) && !given_up(&all));
        assert!(given_up(&calls.pause(Some(ids[0]), CAP)), "it was too late");
        other.answered();
        assert!(!given_up(&second), "it was answered");
    }
}
