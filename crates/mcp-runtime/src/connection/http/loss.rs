//! Whether a refusal means that the endpoint does not know the session any more (R10).

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use tokio::time::timeout;

use super::Shared;
use super::endpoint::{Body, Refusal};
use super::exchange::rpc_error;
use super::session::Stamp;
use crate::connection::codec::{self, Inbound, Reply};

const PING: &str = "ping";
/// How long an endpoint may take to say that it is there.
const PING_TIMEOUT: Duration = Duration::from_secs(2);

impl Shared {
    /// Whether the session of `stamp` is lost, as a refusal may say; `id` is of the request that was refused.
    pub(super) async fn is_lost(
        self: &Arc<Self>,
        stamp: &Stamp,
        refusal: &Refusal,
        id: Option<u64>,
    ) -> bool {
        if !stamp.has_session() {
            return false;
        }
        match Loss::told_by(refusal, id) {
            Loss::None => false,
            Loss::Certain => true,
            // A request that was refused for another reason may have been acted on: it is not for us to send it again.
            Loss::Possible => self.is_refused_in(stamp).await,
        }
    }

    /// Whether the endpoint refuses even to be asked whether it is there, in the session of `stamp`.
    async fn is_refused_in(self: &Arc<Self>, stamp: &Stamp) -> bool {
        let Ok((message, mut in_flight)) = self.message(PING, |_| NoParams {}, None) else {
            return false;
        };
        let id = in_flight.id();
        // Whatever comes of it, nobody waits for a result.
        in_flight.forget();
        let posting = Box::pin(self.post_as(&message, stamp));
        match timeout(PING_TIMEOUT, posting).await {
            Ok(Ok(Body::Refused(refusal))) => Loss::told_by(&refusal, Some(id)) != Loss::None,
            _ => false,
        }
    }
}

#[derive(Serialize)]
struct NoParams {}

/// What a refusal says of the session in which it was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Loss {
    /// It is as it was.
    None,
    /// It may be unknown, or something else may be wrong: some endpoints answer 400 instead of 404.
    Possible,
    /// It is unknown.
    Certain,
}

impl Loss {
    /// `id` is of the request that was refused. A result, and a few codes of the protocol, say that it was read.
    fn told_by(refusal: &Refusal, id: Option<u64>) -> Self {
        let was_read = |code| matches!(code, -32_700 | -32_603..=-32_601);
        match (refusal.status.as_u16(), codec::decode(&refusal.body)) {
            (
                404 | 400,
                Ok(Inbound::Reply {
                    reply: Reply::Result(_),
                    ..
                }),
            ) => Self::None,
            // A gateway may say with whatever code that there is nothing here, but not about a request that it has not read.
            (
                404,
                Ok(Inbound::Reply {
                    id: of,
                    reply: Reply::Error(error),
                }),
            ) if Some(of) == id && was_read(error.code()) => Self::None,
            (404, _) => Self::Certain,
            (400, _) if rpc_error(&refusal.body).is_some_and(|error| was_read(error.code())) => {
                Self::None
            }
            (400, _) => Self::Possible,
            _ => Self::None,
        }
    }
}

#[cfg(test)]
mod tests {
    use http::StatusCode;

    use super::*;

    /// R10
    #[test]
    fn a_session_that_is_not_known_is_told_from_a_request_that_is_wrong() {
        let error = |code: i64, id: &str| {
            format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":"m"}}}}"#)
        };
        let rows = [
            (404, String::new(), Loss::Certain, "what the protocol says"),
            (
                404,
                error(-32_001, "1"),
                Loss::Certain,
                "with the code for it",
            ),
            (
                404,
                error(-32_601, "null"),
                Loss::Certain,
                "a gateway's word",
            ),
            (
                404,
                error(-32_601, "2"),
                Loss::Certain,
                "about nobody's request",
            ),
            (
                404,
                error(-32_601, "1"),
                Loss::None,
                "this request was read",
            ),
            (404, error(-32_603, "1"), Loss::None, "and went wrong"),
            (
                404,
                r#"{"jsonrpc":"2.0","id":1,"result":{}}"#.to_owned(),
                Loss::None,
                "it was answered",
            ),
            (
                400,
                r#"{"jsonrpc":"2.0","id":1,"result":{}}"#.to_owned(),
                Loss::None,
                "here too",
            ),
            (400, String::new(), Loss::Possible, "nothing is said"),
            (
                400,
                "Bad Request: no session".to_owned(),
                Loss::Possible,
                "text",
            ),
            (
                400,
                error(-32_000, "null"),
                Loss::Possible,
                "a code of the server's own, for nobody",
            ),
            (
                400,
                error(-32_600, "1"),
                Loss::Possible,
                "an invalid request, with the id",
            ),
            (400, error(-32_602, "1"), Loss::None, "invalid parameters"),
            (400, error(-32_601, "1"), Loss::None, "no such method"),
            (400, error(-32_603, "null"), Loss::None, "its own fault"),
            (400, error(-32_700, "null"), Loss::None, "not understood"),
            (401, String::new(), Loss::None, "who asks"),
            (500, String::new(), Loss::None, "its own fault"),
        ];
        for (status, body, expected, reason) in rows {
            let status = StatusCode::from_u16(status).unwrap();
            let refusal = Refusal::new(status, body.clone().into_bytes());
            assert_eq!(
                Loss::told_by(&refusal, Some(1)),
                expected,
                "{reason}: {status} {body}"
            );
        }
    }
}
