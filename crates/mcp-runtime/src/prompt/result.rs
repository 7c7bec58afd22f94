//! What becomes of a prompt.

use mcp_sandbox_meta::RawMeta;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::connection::{Connection, Input, RequestError, RequestErrorKind};
use crate::deadline::Deadline;
use crate::object::Object;

const METHOD: &str = "prompts/get";
/// The member that an answer has to have.
const MEMBER: &str = "messages";

/// The answer to getting a prompt, exactly as the server sent it (B5).
#[derive(Debug)]
pub struct PromptResult {
    raw: Box<RawValue>,
}

impl PromptResult {
    fn new(raw: Box<RawValue>) -> serde_json::Result<Self> {
        Object::of_result(&raw)?.elements(MEMBER)?;
        Ok(Self { raw })
    }

    /// The messages as they came: objects with a `role` and a `content`.
    #[must_use]
    pub fn messages(&self) -> Vec<&RawValue> {
        Object::of(&self.raw).elements(MEMBER).unwrap_or_default()
    }

    /// The result object: messages, description, `_meta`, and whatever else the server put into it.
    #[must_use]
    pub fn raw(&self) -> &RawValue {
        &self.raw
    }

    /// The result object, owned.
    #[must_use]
    pub fn into_raw(self) -> Box<RawValue> {
        self.raw
    }
}

/// Gets a prompt over a connection. The arguments are a JSON object.
pub(crate) async fn get(
    connection: &Connection,
    name: &str,
    arguments: Option<&RawValue>,
    deadline: &Deadline,
) -> Result<PromptResult, RequestError> {
    #[derive(Serialize)]
    struct Params<'a> {
        name: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        arguments: Option<&'a RawValue>,
        #[serde(rename = "inputResponses", skip_serializing_if = "Option::is_none")]
        responses: Option<Box<RawValue>>,
        #[serde(rename = "requestState", skip_serializing_if = "Option::is_none")]
        state: Option<Box<RawValue>>,
        #[serde(rename = "_meta", skip_serializing_if = "RawMeta::is_empty")]
        meta: RawMeta,
    }
    let params = |meta, Input { responses, state }| Params {
        name,
        arguments,
        responses,
        state,
        meta,
    };
    let getting = async {
        let raw = connection
            .converse(METHOD, RawMeta::new(), params, None, deadline)
            .await?;
        PromptResult::new(raw)
            .map_err(|error| RequestError::new(METHOD, RequestErrorKind::Unexpected(error)))
    };
    connection.recorded(METHOD, getting).await
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> serde_json::Result<PromptResult> {
        PromptResult::new(RawValue::from_string(json.to_owned()).unwrap())
    }

    /// B5
    #[test]
    fn a_result_is_what_the_server_wrote() {
        let json = r#"{"zeta":1e2,"messages":[{"role":"user","content":{"type":"x-new","n":1,"n":2}}, 7],"_meta":{}}"#;
        let result = read(json).unwrap();
        let messages: Vec<_> = result.messages().into_iter().map(RawValue::get).collect();
        let first = r#"{"role":"user","content":{"type":"x-new","n":1,"n":2}}"#;
        assert_eq!(messages, [first, "7"]);
        assert_eq!(result.into_raw().get(), json);
    }

    /// B5: of several members with one name the last counts, and all of them stay.
    #[test]
    fn a_member_that_stands_twice_costs_no_answer() {
        let json = r#"{"messages":[1],"n":1,"n":2,"messages":[2]}"#;
        let result = read(json).unwrap();
        assert_eq!(result.messages()[0].get(), "2");
        assert_eq!(result.into_raw().get(), json);
    }

    #[test]
    fn an_answer_without_messages_is_none() {
        for json in ["{}", r#"{"messages":null}"#, "[[]]", "null"] {
            assert!(read(json).is_err(), "{json}");
        }
        assert_eq!(read(r#"{"messages":[]}"#).unwrap().messages().len(), 0);
    }
}
