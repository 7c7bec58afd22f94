//! A request that may take several rounds (B6).

use std::time::Duration;

use mcp_sandbox_meta::RawMeta;
use serde::Serialize;
use serde_json::value::RawValue;
use tokio::time::sleep;

use super::input::{Input, InputRequired};
use super::{Connection, RequestError, RequestErrorKind, SpokenEra, ToolCall};
use crate::deadline::Deadline;

/// How often a server may want to know more before it answers (B6).
const ROUNDS: usize = 10;

/// How long one that only wants to be asked again is left alone at first; twice as long each time.
const POSTPONED: Duration = Duration::from_millis(50);
/// And at most.
const LONGEST_POSTPONED: Duration = Duration::from_millis(500);

impl Connection {
    /// Sends a request, and sends it again with what the server wants to know, until it has answered for good (B6). All of
    /// it takes place within the deadline, which stands still while a person is asked (B3).
    pub(crate) async fn converse<P: Serialize>(
        &self,
        method: &'static str,
        meta: RawMeta,
        params: impl Fn(RawMeta, Input) -> P,
        call: Option<ToolCall<'_>>,
        deadline: &Deadline,
    ) -> Result<Box<RawValue>, RequestError> {
        let mut input = Input::default();
        let mut pause = POSTPONED;
        for _round in 0..ROUNDS {
            let params = |meta| params(meta, std::mem::take(&mut input));
            let result = self
                .request(method, meta.clone(), params, call, deadline)
                .await?;
            let required = match self.facts.era {
                SpokenEra::Modern => {
                    InputRequired::read(&self.key, call.map(|call| call.id), &result)
                }
                SpokenEra::Legacy => Ok(None),
            };
            let required = required.map_err(|unfit| RequestError::new(method, unfit))?;
            let Some(required) = required else {
                return Ok(result);
            };
            if required.is_postponement() {
                let waited = deadline.bound(sleep(pause)).await;
                waited.map_err(|elapsed| RequestError::new(method, elapsed))?;
                pause = (pause * 2).min(LONGEST_POSTPONED);
            }
            input = required.answered(&self.interaction, deadline).await;
        }
        let exceeded = RequestErrorKind::RoundsExceeded { rounds: ROUNDS };
        Err(RequestError::new(method, exceeded))
    }
}
