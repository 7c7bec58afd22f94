//! Reads the members of a JSON object as they are spelled.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// A member of an object: its name decoded and as spelled, and its value as spelled.
pub(crate) struct Member<'a> {
    /// Bytes, because a name may hold half a surrogate pair, which no `str` can.
    pub(crate) name: Vec<u8>,
    pub(crate) spelled: &'a RawValue,
    pub(crate) value: &'a RawValue,
}

/// All members of `object`, in order, repeated ones included.
///
/// # Errors
///
/// `json` is not a single JSON object.
pub(crate) fn read(json: &str) -> Result<Vec<Member<'_>>, serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_str(json);
    let members = deserializer.deserialize_map(Members)?;
    deserializer.end()?;
    Ok(members)
}

struct Members;

impl<'de> Visitor<'de> for Members {
    type Value = Vec<Member<'de>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some(spelled) = map.next_key::<&RawValue>()? {
            let value = map.next_value()?;
            let name = decode(spelled).map_err(serde::de::Error::custom)?;
            members.push(Member {
                name,
                spelled,
                value,
            });
        }
        Ok(members)
    }
}

/// The text of a JSON string.
pub(crate) fn decode(spelled: &RawValue) -> Result<Vec<u8>, serde_json::Error> {
    Bytes.deserialize(&mut serde_json::Deserializer::from_str(spelled.get()))
}

struct Bytes;

impl<'de> DeserializeSeed<'de> for Bytes {
    type Value = Vec<u8>;

    fn deserialize<D: Deserializer<'de>>(self, string: D) -> Result<Self::Value, D::Error> {
        string.deserialize_bytes(self)
    }
}

impl Visitor<'_> for Bytes {
    type Value = Vec<u8>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Self::Value, E> {
        Ok(bytes.to_owned())
    }
}
