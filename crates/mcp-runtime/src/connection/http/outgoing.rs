//! What the protocol owes the endpoint: answers to its requests, and cancellations.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::timeout;

use super::Shared;
use super::endpoint::Body;

/// How many such messages are under way at once. An endpoint that takes one slowly keeps the others waiting for that
/// long at most.
const AT_ONCE: usize = 8;
/// How long one may take.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Sends what waits in the outbox, until the connection is over.
pub(super) async fn send_owed(shared: Arc<Shared>) {
    let closed = shared.closed.clone();
    let sending = async {
        let mut under_way = JoinSet::new();
        while let Some(message) = shared.outbox.pop().await {
            if under_way.len() == AT_ONCE {
                under_way.join_next().await;
            }
            while under_way.try_join_next().is_some() {}
            under_way.spawn(send(shared.clone(), message));
        }
    };
    tokio::select! {
        () = closed.cancelled() => {}
        () = sending => {}
    }
}

async fn send(shared: Arc<Shared>, message: Vec<u8>) {
    let headers = shared.session.stamp().headers;
    let posting = shared.endpoint.post(message.into(), headers);
    match timeout(TIMEOUT, posting).await {
        Ok(Ok(answer)) => {
            if let Body::Refused(refusal) = answer.body {
                let error = shared.endpoint.explain(&refusal);
                tracing::debug!(%error, "an answer or cancellation was not taken");
            }
        }
        Ok(Err(why)) => tracing::debug!(?why, "an answer or cancellation could not be sent"),
        Err(_) => tracing::debug!("an answer or cancellation was not taken in time"),
    }
}
