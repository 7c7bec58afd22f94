//! How a call waits for the host's handlers.

use std::panic::AssertUnwindSafe;

use futures_util::FutureExt;

use super::blocked::{Blocked, CallHandler};
use super::{CallErrorKind, METHOD};
use crate::connection::{Connection, RequestError, RequestErrorKind};
use crate::deadline::Deadline;

/// The bounds of every wait of a call: its deadline (B3), and the life of its connection (R10).
#[derive(Debug, Clone, Copy)]
pub(super) struct Wait<'a> {
    pub(super) connection: &'a Connection,
    pub(super) deadline: &'a Deadline,
}

impl Wait<'_> {
    /// Waits for a handler. One that panics has said no.
    pub(super) async fn of<T>(
        self,
        handler: CallHandler,
        answer: impl Future<Output = T>,
    ) -> Result<T, CallErrorKind> {
        let answer = AssertUnwindSafe(answer).catch_unwind();
        let answer = self.within(answer).await?;
        answer.map_err(|_panic| Blocked::Panicked { handler }.into())
    }

    /// Waits for anything else that a call needs.
    pub(super) async fn within<T>(
        self,
        answer: impl Future<Output = T>,
    ) -> Result<T, CallErrorKind> {
        let kind: RequestErrorKind = tokio::select! {
            biased;
            answer = self.deadline.bound(answer) => match answer {
                Ok(answer) => return Ok(answer),
                Err(elapsed) => elapsed.into(),
            },
            ended = self.connection.closed() => RequestErrorKind::Closed(ended),
        };
        Err(RequestError::new(METHOD, kind).into())
    }
}
