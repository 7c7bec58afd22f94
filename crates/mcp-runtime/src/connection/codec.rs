//! The envelope of JSON-RPC messages, read and written with raw values (W1).
//!
//! Only the envelope is looked at here. The result stays the bytes the server sent, borrowed until somebody keeps
//! it, and is decoded later by whoever knows which method it answers. Outbound, arguments and metadata that are raw
//! JSON are written as they are.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::id_scan::IdScan;

/// The characters of an error's message that are part of what a person is shown.
const MESSAGE_SHOWN: usize = 2_000;

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
#[derive(Debug, Clone)]
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

impl fmt::Display for RpcError {
    /// The beginning of the message, and the code.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { code, message, .. } = self;
        if message.is_empty() {
            return write!(f, "JSON-RPC error {code}");
        }
        match message.char_indices().nth(MESSAGE_SHOWN) {
            Some((end, _)) => write!(f, "{}... (JSON-RPC error {code})", &message[..end]),
            None => write!(f, "{message} (JSON-RPC error {code})"),
        }
    }
}

impl std::error::Error for RpcError {}

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
    /// It is the request.
    #[error("it sends back what it is sent: this is no MCP server, or one in a terminal")]
    Echo,
    /// Neither a result nor an error.
    #[error("the reply has neither a result nor an error")]
    Empty,
    /// The error is no object with an integer code.
    #[error("the reply's error has no integer code: {error}")]
    NoErrorCode {
        /// The beginning of the error, as the server wrote it.
        error: String,
    },
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

/// The id as a number, or as the same digits in a string, as some servers echo it. A progress token is such an id too.
pub(crate) fn own_id(id: &RawValue) -> Option<u64> {
    let digits = whole(id.get().trim_matches('"'));
    // `parse` by itself would take a sign.
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| digits.parse().ok()).flatten()
}

/// A number without the fraction that it does not have: where there are only floats, `7` is written `7.0`.
fn whole(number: &str) -> &str {
    match number.split_once('.') {
        Some((whole, zeros)) if zeros.bytes().all(|digit| digit == b'0') => whole,
        _ => number,
    }
}

fn error_reply(error: &RawValue) -> Reply<'_> {
    #[derive(Deserialize)]
    struct Parts<'a> {
        #[serde(borrow)]
        code: &'a RawValue,
        #[serde(borrow, default)]
        message: Option<&'a RawValue>,
        #[serde(borrow, default, deserialize_with = "present")]
        data: Option<&'a RawValue>,
    }
    // serde would read an array as the struct, member by member.
    let parts = Some(error.get()).filter(|error| error.starts_with('{'));
    let parts = parts.and_then(|error| serde_json::from_str::<Parts<'_>>(error).ok());
    let code = |parts: &Parts<'_>| whole(parts.code.get()).parse().ok();
    match parts.and_then(|parts| Some((code(&parts)?, parts))) {
        Some((code, parts)) => {
            let message = parts.message.map(message).unwrap_or_default();
            Reply::Error(RpcError::new(
                code,
                message,
                parts.data.map(ToOwned::to_owned),
            ))
        }
        None => {
            let shown = error.get().chars().take(SHOWN).collect();
            Reply::Malformed(Malformed::NoErrorCode { error: shown })
        }
    }
}

/// The characters that are shown of an error that is none.
const SHOWN: usize = 300;

/// The message of an error. Absent and `null` occur, and so does other JSON; the code says enough then.
fn message(message: &RawValue) -> String {
    serde_json::from_str(message.get()).unwrap_or_else(|_no_text| message.get().to_owned())
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
mod tests;
