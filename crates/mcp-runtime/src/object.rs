//! Objects that somebody else wrote, read member by member: what is wrong with one costs no other.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _, Visitor};
use serde_json::value::RawValue;

/// The members of an object, as they are spelled. Of several with one name the last counts, as for most readers of JSON.
///
/// A derived reader would do less and more than that: it fails as a whole, and it reads an array as if it were an object.
#[derive(Debug, Default)]
pub(crate) struct Object<'a>(HashMap<Cow<'a, str>, &'a RawValue>);

impl<'a> Object<'a> {
    /// Reads an object; anything else is an error.
    pub(crate) fn read(json: &'a RawValue) -> serde_json::Result<Self> {
        serde_json::from_str(json.get()).map(Self)
    }

    /// Reads the result of a request.
    pub(crate) fn of_result(result: &'a RawValue) -> serde_json::Result<Self> {
        if !result.get().starts_with('{') {
            return Err(serde_json::Error::custom("the result is no object"));
        }
        Self::read(result)
    }

    /// As [`read`](Self::read); what is no object has no members.
    pub(crate) fn of(json: &'a RawValue) -> Self {
        Self::read(json).unwrap_or_default()
    }

    /// A member; one that is `null` counts as absent.
    pub(crate) fn get(&self, name: &str) -> Option<&'a RawValue> {
        self.get_or_null(name).filter(|value| value.get() != "null")
    }

    /// A member that is there, even when it is `null`.
    pub(crate) fn get_or_null(&self, name: &str) -> Option<&'a RawValue> {
        self.0.get(name).copied()
    }

    /// The names of its members, in no order.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(AsRef::as_ref)
    }

    /// The elements of a member that is an array.
    ///
    /// # Errors
    ///
    /// When there is no such member, or it is no array.
    pub(crate) fn elements(&self, name: &'static str) -> serde_json::Result<Vec<&'a RawValue>> {
        let member = self.get_or_null(name);
        let member = member.ok_or_else(|| serde_json::Error::missing_field(name))?;
        serde_json::from_str(member.get())
    }

    /// A member, if it can be read as what is asked for.
    pub(crate) fn read_as<T: Deserialize<'a>>(&self, name: &str) -> Option<T> {
        serde_json::from_str(self.get(name)?.get()).ok()
    }

    /// A member that is a text, to be shown: half a surrogate pair, which JSON can spell and no text holds, is replaced.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        self.read_as::<Text>(name).map(|Text(text)| text)
    }
}

struct Text(String);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Bytes;

        impl Visitor<'_> for Bytes {
            type Value = Text;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text")
            }

            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Text, E> {
                Ok(Text(String::from_utf8_lossy(bytes).into_owned()))
            }
        }

        // As text, half a pair would be an error.
        deserializer.deserialize_bytes(Bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(json: &str, text: Option<&str>, number: Option<u64>, reason: &str) {
        let raw = RawValue::from_string(json.to_owned()).unwrap();
        let object = Object::of(&raw);
        assert_eq!(object.text("t").as_deref(), text, "{reason}: {json}");
        assert_eq!(object.read_as("n"), number, "{reason}: {json}");
    }

    #[test]
    fn what_is_wrong_with_a_member_costs_no_other() {
        check(r#"{"t":"a","n":1}"#, Some("a"), Some(1), "both");
        check(r#"{"t":7,"n":1}"#, None, Some(1), "a text that is none");
        check(
            r#"{"t":"a","n":"1"}"#,
            Some("a"),
            None,
            "a number that is none",
        );
        check(r#"{"t":null}"#, None, None, "null is absent");
        check(
            r#"{"t":"a","t":"b","n":1,"n":2}"#,
            Some("b"),
            Some(2),
            "twice",
        );
        check(r#"{"\u0074":"\u00e9"}"#, Some("é"), None, "escapes");
        check(r#"["a",1]"#, None, None, "an array is no object");
        check("7", None, None, "nor is a number");
    }

    #[test]
    fn half_a_surrogate_pair_is_replaced_and_the_rest_stays() {
        let raw = RawValue::from_string(r#"{"t":"a\ud83db"}"#.to_owned()).unwrap();
        let text = Object::of(&raw).text("t").unwrap();
        assert!(
            text.starts_with("a\u{fffd}") && text.ends_with('b'),
            "{text}"
        );
        let raw = RawValue::from_string(r#"{"t":[97]}"#.to_owned()).unwrap();
        assert_eq!(Object::of(&raw).text("t"), None, "bytes are no text");
    }
}
