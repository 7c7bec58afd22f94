//! Picks members out of a JSON object without reading the others.

use std::fmt;

use serde::Deserializer as _;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The raw values of the members `names` of `object`, in that order.
///
/// Nothing but the members asked for is kept, and their contents are not read. Of a repeated member the last counts, as
/// for most readers of JSON. A value that is no object has no members.
pub(crate) fn pick<'a, const N: usize>(
    object: Option<&'a RawValue>,
    names: [&str; N],
) -> [Option<&'a RawValue>; N] {
    let Some(object) = object else {
        return [None; N];
    };
    serde_json::Deserializer::from_str(object.get())
        .deserialize_map(Picker { names })
        .unwrap_or([None; N])
}

/// The string that `value` is, if it is one.
pub(crate) fn string(value: Option<&RawValue>) -> Option<String> {
    serde_json::from_str(value?.get()).ok()
}

/// The truth value that `value` is, if it is one.
pub(crate) fn boolean(value: Option<&RawValue>) -> Option<bool> {
    serde_json::from_str(value?.get()).ok()
}

struct Picker<'n, const N: usize> {
    names: [&'n str; N],
}

impl<'de, const N: usize> Visitor<'de> for Picker<'_, N> {
    type Value = [Option<&'de RawValue>; N];

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut picked = [None; N];
        while let Some(index) = map.next_key_seed(Position(&self.names))? {
            match index.and_then(|index| picked.get_mut(index)) {
                Some(slot) => *slot = Some(map.next_value()?),
                None => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(picked)
    }
}

/// Reads a member's name as its position among the names asked for.
#[derive(Clone, Copy)]
struct Position<'n>(&'n [&'n str]);

impl<'de> serde::de::DeserializeSeed<'de> for Position<'_> {
    type Value = Option<usize>;

    fn deserialize<D: serde::Deserializer<'de>>(self, key: D) -> Result<Self::Value, D::Error> {
        // As bytes, because a name may hold half a surrogate pair, and that costs no other member its reading.
        key.deserialize_bytes(self)
    }
}

impl Visitor<'_> for Position<'_> {
    type Value = Option<usize>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a member")
    }

    fn visit_bytes<E>(self, name: &[u8]) -> Result<Self::Value, E> {
        Ok(self.0.iter().position(|wanted| wanted.as_bytes() == name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(json: &str, expected: [Option<&str>; 2], why: &str) {
        let raw: &RawValue = serde_json::from_str(json).unwrap();
        let picked = pick(Some(raw), ["a", "b/c"]);
        assert_eq!(
            picked.map(|value| value.map(RawValue::get)),
            expected,
            "{why}"
        );
    }

    #[test]
    fn picks_raw_members_and_survives_all_others() {
        check(
            r#"{"a":1e400,"b/c":{"x": 1}}"#,
            [Some("1e400"), Some(r#"{"x": 1}"#)],
            "contents are not read",
        );
        check(
            r#"{"b\u002fc":1,"\u0061":2}"#,
            [Some("2"), Some("1")],
            "names spelled with escapes",
        );
        check(
            r#"{"a":1,"a":null}"#,
            [Some("null"), None],
            "the last of a repeated member",
        );
        check(
            r#"{"\ud800":1,"a":"\ud800"}"#,
            [Some(r#""\ud800""#), None],
            "half a surrogate pair",
        );
        for other in ["null", "[1]", "\"a\"", "1e400", "true", "{}"] {
            check(other, [None, None], "no such members");
        }
        let deep = format!(
            "{{\"x\":{}{},\"a\":1}}",
            "[".repeat(100_000),
            "]".repeat(100_000)
        );
        check(
            &deep,
            [Some("1"), None],
            "depth is nothing to a reader that ignores it",
        );
    }
}
