//! What is in a resource.

use mcp_sandbox_meta::RawMeta;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::connection::{Connection, Input, RequestError, RequestErrorKind};
use crate::deadline::Deadline;
use crate::object::Object;

const METHOD: &str = "resources/read";
/// The member that an answer has to have.
const MEMBER: &str = "contents";

/// The answer to reading a resource, exactly as the server sent it (B5).
///
/// One resource can have several contents. Each is an object with `text` or with `blob`, which is base64.
#[derive(Debug)]
pub struct ResourceContents {
    raw: Box<RawValue>,
}

impl ResourceContents {
    fn new(raw: Box<RawValue>) -> serde_json::Result<Self> {
        Object::of_result(&raw)?.elements(MEMBER)?;
        Ok(Self { raw })
    }

    /// The contents as they came.
    #[must_use]
    pub fn contents(&self) -> Vec<&RawValue> {
        Object::of(&self.raw).elements(MEMBER).unwrap_or_default()
    }

    /// The result object: contents, `_meta`, and whatever else the server put into it.
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

/// Reads a resource over a connection.
pub(crate) async fn read(
    connection: &Connection,
    uri: &str,
    deadline: &Deadline,
) -> Result<ResourceContents, RequestError> {
    #[derive(Serialize)]
    struct Params<'a> {
        uri: &'a str,
        #[serde(rename = "inputResponses", skip_serializing_if = "Option::is_none")]
        responses: Option<Box<RawValue>>,
        #[serde(rename = "requestState", skip_serializing_if = "Option::is_none")]
        state: Option<Box<RawValue>>,
        #[serde(rename = "_meta", skip_serializing_if = "RawMeta::is_empty")]
        meta: RawMeta,
    }
    let params = |meta, Input { responses, state }| Params {
        uri,
        responses,
        state,
        meta,
    };
    let reading = async {
        let raw = connection
            .converse(METHOD, RawMeta::new(), params, None, deadline)
            .await?;
        ResourceContents::new(raw)
            .map_err(|error| RequestError::new(METHOD, RequestErrorKind::Unexpected(error)))
    };
    connection.recorded(METHOD, reading).await
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> serde_json::Result<ResourceContents> {
        ResourceContents::new(RawValue::from_string(json.to_owned()).unwrap())
    }

    /// B5
    #[test]
    fn contents_are_what_the_server_wrote() {
        let json = r#"{"zeta":1e2,"contents":[{"uri":"a","text":"A","n":1,"n":2}, {"blob":"AAE=","vendor":1.0},7],"_meta":{}}"#;
        let contents = read(json).unwrap();
        let parts: Vec<_> = contents.contents().into_iter().map(RawValue::get).collect();
        assert_eq!(
            parts,
            [
                r#"{"uri":"a","text":"A","n":1,"n":2}"#,
                r#"{"blob":"AAE=","vendor":1.0}"#,
                "7"
            ]
        );
        assert_eq!(contents.into_raw().get(), json);
    }

    /// B5: of several members with one name the last counts, and all of them stay.
    #[test]
    fn a_member_that_stands_twice_costs_no_answer() {
        let json = r#"{"contents":[1],"n":1,"n":2,"contents":[{"uri":"a"}]}"#;
        let contents = read(json).unwrap();
        assert_eq!(contents.contents()[0].get(), r#"{"uri":"a"}"#);
        assert_eq!(contents.into_raw().get(), json);
    }

    #[test]
    fn an_answer_without_contents_is_none() {
        for json in [
            "{}",
            r#"{"contents":null}"#,
            r#"{"contents":{}}"#,
            "[[]]",
            "null",
        ] {
            assert!(read(json).is_err(), "{json}");
        }
        assert_eq!(read(r#"{"contents":[]}"#).unwrap().contents().len(), 0);
    }
}
