//! The envelope of JSON-RPC messages, read and written with raw values (W1).
//!
//! Only the envelope is looked at here. The result stays the bytes the server sent, borrowed until somebody keeps
//! it, and is decoded later by whoever knows which method it answers. Outbound, arguments and metadata that are raw
//! JSON are written as they are.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::id_scan::IdScan;

/// A message from a server, as far as its envelope says.
#[derive(Debug)]
pub(crate) enum Inbound<'a> {
    /// An answer to the request with this id.
    Reply { id: u64, reply: Reply<'a> },
    /// An answer to no request of ours: an id we cannot have given out, or none.
    Stray(Reply<'a>),
    /// The server wants something from us, or tells us something.
    Call {
        method: Cow<'a, str>,
        params: Option<&'a RawValue>,
        is_request: bool,
    },
}

/// What a request was answered with.
#[derive(Debug)]
pub(crate) enum Reply<'a> {
    /// `result`, whatever it is.
    Result(&'a RawValue),
    /// `error`, with a code and a message.
    Error(RpcError),
    /// An answer that is neither; the text says what is wrong with it.
    Malformed(Malformed),
}

/// The error object of a JSON-RPC answer, as the server sent it.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message} (JSON-RPC error {code})")]
pub struct RpcError {
    code: i64,
    message: String,
    data: Option<Box<RawValue>>,
}

impl RpcError {
    pub(crate) fn new(code: i64, message: String, data: Option<Box<RawValue>>) -> Self {
        Self {
            code,
            message,
            data,
        }
    }

    /// The error code; the protocol's own are negative, servers use any.
    #[must_use]
    pub fn code(&self) -> i64 {
        self.code
    }

    /// The message, possibly empty.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The additional data, unchanged.
    #[must_use]
    pub fn data(&self) -> Option<&RawValue> {
        self.data.as_deref()
    }
}

/// Why a reply could not be used although it could be attributed (R7).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Malformed {
    /// The line is not JSON: cut short, not UTF-8, or with a literal JSON does not have.
    #[error("the reply is not valid JSON")]
    NotJson,
    /// The line is longer than the limit.
    #[error("the reply of {length} bytes is longer than the limit of {limit} bytes")]
    TooLong {
        /// Length of the line in bytes.
        length: usize,
        /// The limit in bytes.
        limit: usize,
    },
    /// Neither a result nor an error.
    #[error("the reply has neither a result nor an error")]
    Empty,
    /// The error object lacks an integer code or a message.
    #[error("the reply's error object has no integer code and message")]
    NoErrorCode,
}

/// A line that is no JSON-RPC message.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Unreadable {
    /// The request it seems to answer.
    pub(crate) id: Option<u64>,
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    error: Option<&'a RawValue>,
}

/// A member that is there, even when it is `null`.
fn present<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

/// Reads one line.
pub(crate) fn decode(line: &[u8]) -> Result<Inbound<'_>, Unreadable> {
    // serde would read an array as an envelope, member by member.
    if !line.trim_ascii_start().starts_with(b"{") {
        return Err(Unreadable { id: None });
    }
    // The scan runs only over lines that are broken, and it is what attributes them.
    let Ok(envelope) = serde_json::from_slice::<Envelope<'_>>(line) else {
        let mut scan = IdScan::default();
        scan.feed(line);
        return Err(Unreadable { id: scan.id() });
    };
    let Envelope {
        id,
        method,
        params,
        result,
        error,
    } = envelope;
    if let Some(method) = method {
        return Ok(Inbound::Call {
            method,
            params,
            is_request: id.is_some(),
        });
    }
    let reply = match (result, error) {
        (_, Some(error)) if error.get() != "null" => error_reply(error),
        (Some(result), _) => Reply::Result(result),
        (None, Some(_)) => Reply::Malformed(Malformed::Empty),
        (None, None) if id.is_some() => Reply::Malformed(Malformed::Empty),
        (None, None) => return Err(Unreadable { id: None }),
    };
    Ok(match id.and_then(own_id) {
        Some(id) => Inbound::Reply { id, reply },
        None => Inbound::Stray(reply),
    })
}

/// The id as a number, or as the same digits in a string, as some servers echo it.
fn own_id(id: &RawValue) -> Option<u64> {
    let digits = id.get().trim_matches('"');
    // Parsing alone would take a sign as well.
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| digits.parse().ok())?
}

fn error_reply(error: &RawValue) -> Reply<'_> {
    #[derive(Deserialize)]
    struct Parts<'a> {
        code: i64,
        // Absent and null occur in the wild; the code says enough.
        #[serde(default)]
        message: Option<String>,
        #[serde(borrow, default)]
        data: Option<&'a RawValue>,
    }
    match serde_json::from_str::<Parts<'_>>(error.get()) {
        Ok(Parts {
            code,
            message: Some(message),
            data,
        }) => Reply::Error(RpcError::new(code, message, data.map(ToOwned::to_owned))),
        Ok(Parts { message: None, .. }) | Err(_) => Reply::Malformed(Malformed::NoErrorCode),
    }
}

#[derive(Serialize)]
struct Outgoing<'a, P> {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<u64>,
    method: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    params: Option<P>,
}

/// A request as one line, its end included.
pub(crate) fn encode_request<P: Serialize>(
    id: u64,
    method: &str,
    params: Option<P>,
) -> serde_json::Result<Vec<u8>> {
    encode(&Outgoing {
        jsonrpc: "2.0",
        id: Some(id),
        method,
        params,
    })
}

/// A notification as one line, its end included.
pub(crate) fn encode_notification<P: Serialize>(
    method: &str,
    params: Option<P>,
) -> serde_json::Result<Vec<u8>> {
    encode(&Outgoing {
        jsonrpc: "2.0",
        id: None,
        method,
        params,
    })
}

/// Any message as one line, its end included.
pub(crate) fn encode(message: &impl Serialize) -> serde_json::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(message)?;
    // Raw JSON from the host may span lines; outside strings a line end is mere white space, and inside it is escaped.
    for byte in &mut line {
        if matches!(byte, b'\n' | b'\r') {
            *byte = b' ';
        }
    }
    line.push(b'\n');
    Ok(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(line: &str) -> String {
        match decode(line.as_bytes()) {
            Ok(Inbound::Reply {
                id,
                reply: Reply::Result(result),
            }) => format!("{id} result {result}"),
            Ok(Inbound::Reply {
                id,
                reply: Reply::Error(error),
            }) => {
                format!(
                    "{id} error {} {:?} {:?}",
                    error.code(),
                    error.message(),
                    error.data().map(RawValue::get)
                )
            }
            Ok(Inbound::Reply {
                id,
                reply: Reply::Malformed(why),
            }) => format!("{id} malformed: {why}"),
            Ok(Inbound::Stray(_)) => "stray".to_owned(),
            Ok(Inbound::Call {
                method, is_request, ..
            }) => format!("{method} {is_request}"),
            Err(Unreadable { id }) => format!("unreadable {id:?}"),
        }
    }

    #[test]
    fn envelopes_are_read_whatever_is_inside() {
        let rows: &[(&str, &str)] = &[
            (
                r#"{"jsonrpc":"2.0","id":1,"result":{"b":1e2,"a":123456789012345678901234567890}}"#,
                r#"1 result {"b":1e2,"a":123456789012345678901234567890}"#,
            ),
            (r#"{"id":"1","result":null}"#, "1 result null"),
            (r#"{"id":1,"result":{},"error":null}"#, "1 result {}"),
            (r#"{"id":1,"result":1e400}"#, "1 result 1e400"),
            (
                r#"{"id":1,"error":{"code":-32602,"message":"no","data":{"x":[1,null]}}}"#,
                r#"1 error -32602 "no" Some("{\"x\":[1,null]}")"#,
            ),
            (
                r#"{"id":1,"error":{"code":0,"message":""}}"#,
                r#"1 error 0 "" None"#,
            ),
            (
                r#"{"id":1,"error":{"code":4294967296,"message":"m"}}"#,
                r#"1 error 4294967296 "m" None"#,
            ),
            (
                r#"{"id":1,"error":{"code":"E1","message":"m"}}"#,
                "1 malformed: the reply's error object has no integer code and message",
            ),
            (
                r#"{"id":1,"error":{"code":1}}"#,
                "1 malformed: the reply's error object has no integer code and message",
            ),
            (
                r#"{"id":1,"error":"broken"}"#,
                "1 malformed: the reply's error object has no integer code and message",
            ),
            (
                r#"{"id":1}"#,
                "1 malformed: the reply has neither a result nor an error",
            ),
            (r#"{"id":null,"error":{"code":1,"message":"m"}}"#, "stray"),
            (r#"{"id":"nobody","result":1}"#, "stray"),
            (r#"{"id":"+1","result":1}"#, "stray"),
            (r#"{"method":"ping","id":"p"}"#, "ping true"),
            (
                r#"{"method":"notifications/progress","params":{}}"#,
                "notifications/progress false",
            ),
            (r#"{"id":1,"result":NaN}"#, "unreadable Some(1)"),
            (r#"{"id":1,"result":{"a":"#, "unreadable Some(1)"),
            (r#"{"level":"info"}"#, "unreadable None"),
            ("[1,2]", "unreadable None"),
            (r#"[1,"ping",{}]"#, "unreadable None"),
            ("starting up", "unreadable None"),
            ("", "unreadable None"),
        ];
        for (line, expected) in rows {
            assert_eq!(shown(line), *expected, "{line}");
        }
    }

    /// W1: depth does not matter where nothing is decoded.
    #[test]
    fn a_deeply_nested_result_is_kept() {
        let deep = format!(
            "{{\"id\":1,\"result\":{}{}}}",
            "[".repeat(3000),
            "]".repeat(3000)
        );
        assert!(shown(&deep).starts_with("1 result [[["));
    }

    #[test]
    fn invalid_utf8_is_attributed() {
        assert_eq!(
            decode(b"{\"id\":5,\"result\":\"\xff\"}").err(),
            Some(Unreadable { id: Some(5) })
        );
    }

    /// W1
    #[test]
    fn raw_parameters_are_written_as_they_are_on_one_line() {
        let params = RawValue::from_string("{\"b\": 1e2,\n\"a\":\"x\\ny\"}".to_owned()).unwrap();
        let line = encode_request(3, "tools/call", Some(&params)).unwrap();
        assert_eq!(
            String::from_utf8(line).unwrap(),
            "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\",\"params\":{\"b\": 1e2, \"a\":\"x\\ny\"}}\n"
        );
    }
}
