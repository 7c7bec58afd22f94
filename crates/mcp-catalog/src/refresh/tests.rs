//! How many fetches a burst of requests costs, and what a failure leaves.

use std::cell::Cell;
use std::future::{Future, pending};
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use tokio::task::yield_now;

use super::RefreshGate;

/// Polls without being woken later: what is ready is ready now.
fn poll_now<F: Future>(future: std::pin::Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

#[track_caller]
fn check_idle(gate: &RefreshGate) {
    assert!(!gate.is_owed(), "nothing is owed");
    assert!(poll_now(pin!(gate.due())).is_pending(), "no turn to take");
}

/// C9
#[tokio::test]
async fn a_burst_costs_one_fetch() {
    let gate = RefreshGate::new();
    check_idle(&gate);
    for _ in 0..1000 {
        gate.request();
    }
    assert!(gate.is_owed());
    gate.due().await.pay();
    check_idle(&gate);
}

/// C9: what arrives while a fetch runs may have missed its listing, and costs one more.
#[tokio::test]
async fn requests_during_a_fetch_owe_one_more() {
    let gate = RefreshGate::new();
    gate.request();
    let turn = gate.due().await;
    for _ in 0..1000 {
        gate.request();
    }
    turn.pay();
    assert!(gate.is_owed());
    gate.due().await.pay();
    check_idle(&gate);
}

/// C9
#[tokio::test]
async fn only_one_fetch_runs_at_a_time() {
    let gate = RefreshGate::new();
    gate.request();
    let turn = gate.due().await;
    gate.request();
    let mut second = pin!(gate.due());
    assert!(poll_now(second.as_mut()).is_pending());
    turn.pay();
    let Poll::Ready(second) = poll_now(second) else {
        panic!("the turn is free and a refresh is owed");
    };
    second.pay();
    check_idle(&gate);
}

/// B2: until a listing is in place, the catalog is known to be behind.
#[tokio::test]
async fn a_refresh_stays_owed_while_it_is_fetched() {
    let gate = RefreshGate::new();
    gate.request();
    let turn = gate.due().await;
    assert!(gate.is_owed());
    turn.pay();
    assert!(!gate.is_owed());
}

/// C9: an error, a panic and a dropped future are the same to the gate: the turn is dropped.
#[tokio::test]
async fn a_turn_that_is_not_paid_leaves_the_debt() {
    let gate = RefreshGate::new();
    gate.request();
    drop(gate.due().await);
    assert!(gate.is_owed());
    gate.due().await.pay();
    check_idle(&gate);
}

/// C9
#[tokio::test]
async fn a_driver_waits_for_the_first_request() {
    let gate = RefreshGate::new();
    let mut due = pin!(gate.due());
    assert!(poll_now(due.as_mut()).is_pending());
    gate.request();
    due.await.pay();
    check_idle(&gate);
}

/// C2, C9
#[tokio::test]
async fn explicit_refreshes_that_overlap_share_the_one_more() {
    let gate = RefreshGate::new();
    let fetches = Cell::new(0);
    let fetch = || async {
        fetches.set(fetches.get() + 1);
        yield_now().await;
        Ok::<_, ()>(fetches.get())
    };
    let (first, second, third) = tokio::join!(
        gate.refresh(fetch),
        gate.refresh(fetch),
        gate.refresh(fetch)
    );
    assert_eq!(first, Ok(Some(1)), "asked first and fetched at once");
    assert_eq!(second, Ok(Some(2)), "the first began before it asked");
    assert_eq!(third, Ok(None), "paid by the second");
    check_idle(&gate);
}

/// C9
#[tokio::test]
async fn a_failed_refresh_fails_only_who_ran_it() {
    let gate = RefreshGate::new();
    let (failing, good) = tokio::join!(
        gate.refresh(|| async {
            yield_now().await;
            Err::<(), _>("gone")
        }),
        gate.refresh(|| async { Ok::<_, &str>(()) }),
    );
    assert_eq!(failing, Err("gone"));
    assert_eq!(good, Ok(Some(())));
    check_idle(&gate);
}

/// C9
#[tokio::test]
async fn a_refresh_that_fails_is_still_owed() {
    let gate = RefreshGate::new();
    let failed = gate.refresh(|| async { Err::<(), _>("gone") }).await;
    assert_eq!(failed, Err("gone"));
    assert!(gate.is_owed());
    gate.due().await.pay();
    check_idle(&gate);
}

/// C9: dropped while waiting or while fetching, a refresh hands its debt back.
#[tokio::test]
async fn a_dropped_refresh_is_still_owed() {
    let gate = RefreshGate::new();
    {
        let mut fetching = pin!(gate.refresh(pending::<Result<(), ()>>));
        assert!(poll_now(fetching.as_mut()).is_pending());
        let mut waiting = pin!(gate.refresh(pending::<Result<(), ()>>));
        assert!(poll_now(waiting.as_mut()).is_pending());
    }
    assert!(gate.is_owed());
    gate.due().await.pay();
    check_idle(&gate);
}
